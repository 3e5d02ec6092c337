"""`pose describe`: how a silhouette is described, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipelines.commands.arguments import check_target


def describe_command(
    mask: Annotated[Path, typer.Argument(help="Picture of a silhouette: bright on dark, or cut out (PNG with alpha).")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The picture to make, .png.")],
    model: Annotated[
        Path | None,
        typer.Option("--model", "-m", help="Take the words of this model. Default: learnt from MASK alone."),
    ] = None,
    words: Annotated[int, typer.Option(help="How many words to learn without a model.")] = 12,
    at: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="X Y", help="Show the shape context of the edge point nearest to here, pixels."),
    ] = None,
) -> None:
    """Draw how a silhouette is described: edge points, a shape context, the words on the body, the histogram."""
    from pipelines.model.descriptor_picture import draw_description

    check_target(out, ".png")
    drawn = draw_description(mask, out, model=model, n_words=words, at=at)
    print(f"{drawn.n_points} edge points, {drawn.n_used} of {drawn.n_words} words occur;   picture {out}")
