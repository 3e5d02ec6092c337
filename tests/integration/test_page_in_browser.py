"""The report page in headless Chromium: widths of a laptop and a phone, light and dark, and the 3D view driven."""

import dataclasses
import shutil

import numpy as np
import pytest
from made_evaluation import make_evaluation

from pipelines.evaluation.page import save_page

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
#: What no page of ours may do: write to the console, throw, ask for anything.
QUIET = ("console", "pageerror", "request")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium to open the page with")


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright, which drives Chromium, is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=OPTIONS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "größe [1].html"
    evaluation = dataclasses.replace(make_evaluation(400), std=np.full((400, 15, 3), 25.0))
    training = {"software": "gbcd-pose", "config": '{"gp":{"memory_budget_mb":' + "1" * 300 + "}}"}
    save_page(path, evaluation, "a model of a name that is long enough to be folded.h5", training)
    return path.as_uri()


@pytest.fixture(params=[(1280, 800), (390, 844)], ids=["laptop", "phone"])
def size(request):
    return dict(zip(("width", "height"), request.param, strict=True))


@pytest.fixture(params=["light", "dark"])
def page(browser, address, size, request):
    context = browser.new_context(viewport=size, color_scheme=request.param, reduced_motion="reduce")
    page = context.new_page()
    events = []
    for name in QUIET:
        page.on(name, lambda event, name=name: events.append(f"{name}: {getattr(event, 'url', event)}"))
    page.goto(address)
    page.click("summary")  # what is folded must fit too
    page.evaluate("scrollTo(0, 0)")
    yield page
    assert events == [f"request: {address}"]
    context.close()


def pixels(page):
    return page.evaluate("document.getElementById('skeleton').toDataURL()")


def test_nothing_is_cut_off(page, size):
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    outside = page.evaluate(
        """() => [...document.body.querySelectorAll('*')]
            .filter((e) => !e.closest('.hidden') && !e.closest('svg') && e.getClientRects().length)
            .filter((e) => { const b = e.getBoundingClientRect(); return b.left < -0.5 || b.right > innerWidth + 0.5; })
            .map((e) => e.outerHTML.slice(0, 80))"""
    )
    assert outside == []
    # No cell or caption is wider than its place, and no text of a chart leaves it.
    cut = page.evaluate(
        """() => [...document.querySelectorAll('td, th, figcaption, p, dd, dt, h1, button, select, label')]
            .filter((e) => !e.closest('.hidden') && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0)
            .map((e) => e.outerHTML.slice(0, 80))"""
    )
    assert cut == []
    texts = page.evaluate(
        """() => [...document.querySelectorAll('svg text')].filter((e) => {
            const a = e.getBoundingClientRect(), b = e.ownerSVGElement.getBoundingClientRect();
            return a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1 || a.bottom > b.bottom + 1;
        }).map((e) => e.textContent)"""
    )
    assert texts == []


def test_text_can_be_read(page):
    """Light on dark or dark on light, by WCAG's contrast of 4.5, and no smaller than 11 pixels."""
    faults = page.evaluate(
        """() => {
            const parts = (text) => text.match(/[\\d.]+/g).map(Number);
            const level = (c) => { const f = c / 255; return f <= 0.04045 ? f / 12.92 : ((f + 0.055) / 1.055) ** 2.4; };
            const light = ([r, g, b]) => 0.2126 * level(r) + 0.7152 * level(g) + 0.0722 * level(b);
            const behind = (e) => { for (; e; e = e.parentElement) {
                const c = parts(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; }
                return [255, 255, 255]; };
            const shown = 'p, td, th, dt, dd, h1, h2, figcaption, caption, button, select, small, b';
            return [...document.querySelectorAll(shown)]
                .filter((e) => !e.closest('.hidden') && e.textContent.trim()).filter((e) => {
                    const style = getComputedStyle(e);
                    const [a, b] = [light(parts(style.color)), light(behind(e))].sort((x, y) => y - x);
                    return (a + 0.05) / (b + 0.05) < 4.5 || parseFloat(style.fontSize) < 11;
                }).map((e) => e.outerHTML.slice(0, 80));
        }"""
    )
    assert faults == []


def test_the_slider_moves_the_skeleton(page):
    before = pixels(page)
    first = page.inner_text("#frame"), page.inner_text("#error")
    page.locator("#time").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert page.input_value("#time") == "5"
    assert (page.inner_text("#frame"), page.inner_text("#error")) != first
    assert page.inner_text("#frame") == "10"  # every second frame is of this camera
    moved = pixels(page)
    assert moved != before
    page.locator("#time").fill("0")
    assert pixels(page) == before
    assert (page.inner_text("#frame"), page.inner_text("#error")) == first


def test_dragging_and_buttons_turn_it(page):
    views = [pixels(page)]
    for button in ("front", "side", "top"):
        page.click(f"#{button}")
        views.append(pixels(page))
    page.locator("#skeleton").scroll_into_view_if_needed()
    box = page.locator("#skeleton").bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 180, box["y"] + 60)
    page.mouse.up()
    views.append(pixels(page))
    assert len(set(views)) == len(views)


def test_another_video_is_chosen_and_played(page):
    before = pixels(page)
    assert page.locator("#track option").all_inner_texts() == [f"S{s} Walking 1, C{c}" for s in (1, 2) for c in (1, 2)]
    page.select_option("#track", label="S2 Walking 1, C2")
    assert pixels(page) != before
    page.click("#play")
    for _ in range(200):
        page.wait_for_timeout(50)
        if int(page.input_value("#time")) > 1:
            break
    page.click("#play")
    assert int(page.input_value("#time")) > 1
    stopped = page.input_value("#time")
    page.wait_for_timeout(150)
    assert (page.input_value("#time"), page.inner_text("#play")) == (stopped, "Play")


def test_a_change_of_theme_is_followed(page):
    before = pixels(page), page.evaluate("getComputedStyle(document.body).backgroundColor")
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    page.emulate_media(color_scheme="light" if dark else "dark")
    page.wait_for_timeout(50)
    after = pixels(page), page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert before[0] != after[0]
    assert before[1] != after[1]
