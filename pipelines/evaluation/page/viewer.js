"use strict";
// The 3D view: poses come as whole mm, x right, y up, z towards the viewer, and are drawn without perspective.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const canvas = byId("skeleton"), slider = byId("time"), chooser = byId("track");
  const nJoints = data.sides.length;
  const REACH = 1080; // mm from the middle to the upper and lower edge
  const view = { yaw: 0.35, pitch: 0.12 };
  let track, frame = 0, timer = 0;

  function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const numbers = new DataView(bytes.buffer);
    return Float32Array.from({ length: bytes.length / 2 }, (_, i) => numbers.getInt16(2 * i, true));
  }

  function choose(index) {
    const chosen = data.tracks[index];
    track = { frames: chosen.frames, errors: chosen.errors, shown: [unpack(chosen.true), unpack(chosen.predicted)] };
    slider.max = track.frames.length - 1;
    // The floor stays where the lowest foot of the track is.
    track.floor = track.shown[0].reduce((low, value, i) => (i % 3 === 1 && value < low ? value : low), 0) - 80;
    show(0);
  }

  function show(index) {
    frame = index;
    slider.value = index;
    byId("frame").textContent = track.frames[index];
    slider.setAttribute("aria-valuetext", `frame ${track.frames[index]}`);
    byId("error").textContent = `${track.errors[index].toFixed(0)} mm`;
    draw();
  }

  function colours() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(`--${name}`).trim();
    return { left: of("left"), right: of("right"), middle: of("middle"), true: of("true"), line: of("line") };
  }

  function projector(width, height) {
    const scale = height / (2 * REACH);
    const [cy, sy, cp, sp] = [Math.cos(view.yaw), Math.sin(view.yaw), Math.cos(view.pitch), Math.sin(view.pitch)];
    return (x, y, z) => {
      const across = cy * x + sy * z, away = cy * z - sy * x;
      return [width / 2 + scale * across, height / 2 - scale * (cp * y - sp * away), cp * away + sp * y];
    };
  }

  function draw() {
    const ratio = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
    canvas.width = Math.round(box.width * ratio);
    canvas.height = Math.round(box.height * ratio);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.lineCap = "round";
    const project = projector(box.width, box.height), colour = colours();
    drawFloor(pen, project, colour.line);
    track.shown.forEach((poses, which) => {
      const points = [];
      for (let joint = 0; joint < nJoints; joint++) {
        const at = 3 * (frame * nJoints + joint);
        points.push(project(poses[at], poses[at + 1], poses[at + 2]));
      }
      const bones = data.bones.map(([a, b]) => ({ a: points[a], b: points[b], side: data.sides[b] }));
      bones.sort((one, other) => one.a[2] + one.b[2] - other.a[2] - other.b[2]); // what is behind is drawn first
      for (const bone of bones) line(pen, bone.a, bone.b, which ? colour[bone.side] : colour.true, which ? 4 : 9);
      if (which) {
        points.forEach((point, joint) => {
          pen.fillStyle = colour[data.sides[joint]];
          pen.beginPath();
          pen.arc(point[0], point[1], 4.5, 0, 2 * Math.PI);
          pen.fill();
        });
      }
    });
  }

  function drawFloor(pen, project, colour) {
    const half = 750, step = 250;
    for (let at = -half; at <= half; at += step) {
      line(pen, project(at, track.floor, -half), project(at, track.floor, half), colour, 1);
      line(pen, project(-half, track.floor, at), project(half, track.floor, at), colour, 1);
    }
  }

  function line(pen, from, to, colour, width) {
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.beginPath();
    pen.moveTo(from[0], from[1]);
    pen.lineTo(to[0], to[1]);
    pen.stroke();
  }

  function turn(yaw, pitch) {
    view.yaw = yaw;
    view.pitch = Math.max(-Math.PI / 2, Math.min(Math.PI / 2, pitch));
    draw();
  }

  function stop() {
    window.clearInterval(timer);
    timer = 0;
    byId("play").textContent = "Play";
  }

  function play() {
    if (timer) return stop();
    byId("play").textContent = "Pause";
    timer = window.setInterval(() => show((frame + 1) % track.frames.length), 1000 / 20);
  }

  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    held = { x: event.clientX, y: event.clientY, yaw: view.yaw, pitch: view.pitch };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (held) turn(held.yaw - (event.clientX - held.x) / 120, held.pitch + (event.clientY - held.y) / 160);
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { held = null; });

  data.tracks.forEach((one, index) => chooser.add(new Option(one.name, index)));
  chooser.addEventListener("change", () => { stop(); choose(Number(chooser.value)); });
  slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
  byId("play").addEventListener("click", play);
  byId("front").addEventListener("click", () => turn(0, 0));
  byId("side").addEventListener("click", () => turn(Math.PI / 2, 0));
  byId("top").addEventListener("click", () => turn(0, Math.PI / 2));
  new ResizeObserver(draw).observe(canvas);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  choose(0);
})();
