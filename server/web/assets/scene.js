// Scene draws nodes and edges with WebGL2, given positions and colours.

import { ramp } from "./colour.js";
import { edgeFragment, edgeVertex, nodeFragment, nodeVertex } from "./shaders.js";

// Flags of a node; the first four are the server's.
export const measured = 1, pending = 2, abandoned = 4, forbidden = 8, suggested = 16, selected = 32;

export class Scene {
  // Throws an error for the user if the browser has no WebGL 2.
  constructor(canvas) {
    this.canvas = canvas;
    const gl = canvas.getContext("webgl2", { antialias: true });
    if (!gl) throw { title: "This browser cannot draw the map", detail: "it needs WebGL 2; the other views work without it" };
    this.gl = gl;
    this.nodes = program(gl, nodeVertex, nodeFragment);
    this.edges = program(gl, edgeVertex, edgeFragment);
    this.buffers = Object.fromEntries(["place", "value", "flags", "pairs"].map((name) => [name, gl.createBuffer()]));
    this.texture = gl.createTexture();
    this.count = 0;
    this.lines = 0;
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  // place sets the positions of nodes.
  place(x, y) {
    const { gl, buffers } = this;
    const places = new Float32Array(2 * x.length);
    for (let i = 0; i < x.length; i++) {
      places[2 * i] = x[i];
      places[2 * i + 1] = y[i];
    }
    upload(gl, gl.ARRAY_BUFFER, buffers.place, places);
    this.count = x.length;
  }

  // join sets the edges, by the rows of their ends.
  join(from = [], to = []) {
    const pairs = new Uint32Array(2 * from.length);
    for (let k = 0; k < from.length; k++) {
      pairs[2 * k] = from[k];
      pairs[2 * k + 1] = to[k];
    }
    upload(this.gl, this.gl.ELEMENT_ARRAY_BUFFER, this.buffers.pairs, pairs);
    this.lines = pairs.length;
  }

  // value sets the values that colour nodes; null: none.
  value(values, range, scale) {
    const { gl } = this;
    this.model = values !== null;
    this.range = range;
    upload(gl, gl.ARRAY_BUFFER, this.buffers.value, values ?? new Float32Array(this.count));
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    const colours = ramp(scale);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, colours.length / 4, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, colours);
    for (const [name, to] of [["MIN_FILTER", "LINEAR"], ["MAG_FILTER", "LINEAR"], ["WRAP_S", "CLAMP_TO_EDGE"], ["WRAP_T", "CLAMP_TO_EDGE"]]) {
      gl.texParameteri(gl.TEXTURE_2D, gl[`TEXTURE_${name}`], gl[to]);
    }
  }

  // flag sets the marks of nodes.
  flag(flags) {
    upload(this.gl, this.gl.ARRAY_BUFFER, this.buffers.flags, flags);
  }

  // draw draws the view of the camera. Sizes are in CSS pixels, colours are lists
  // of shares: { ink, paper, plain, line }.
  draw(camera, size, markSize, colours) {
    const { gl, canvas } = this;
    const dense = window.devicePixelRatio || 1;
    const width = Math.round(camera.width * dense), height = Math.round(camera.height * dense);
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (this.count === 0) return;
    const view = { centre: [camera.x, camera.y], unit: [(2 * camera.zoom) / camera.width, (2 * camera.zoom) / camera.height] };
    this.drawEdges(view, colours.line);
    this.drawNodes(view, size * dense, markSize * dense, colours);
  }

  drawEdges({ centre, unit }, line) {
    const { gl, edges, buffers } = this;
    if (this.lines === 0) return;
    gl.useProgram(edges.program);
    gl.uniform2fv(edges.uniform("centre"), centre);
    gl.uniform2fv(edges.uniform("unit"), unit);
    gl.uniform4fv(edges.uniform("line"), line);
    attribute(gl, edges, "place", buffers.place, 2, gl.FLOAT);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffers.pairs);
    gl.drawElements(gl.LINES, this.lines, gl.UNSIGNED_INT, 0);
  }

  drawNodes({ centre, unit }, size, markSize, { ink, paper, plain }) {
    const { gl, nodes, buffers } = this;
    gl.useProgram(nodes.program);
    gl.uniform2fv(nodes.uniform("centre"), centre);
    gl.uniform2fv(nodes.uniform("unit"), unit);
    gl.uniform2fv(nodes.uniform("range"), this.range);
    gl.uniform1f(nodes.uniform("size"), size);
    gl.uniform1f(nodes.uniform("markSize"), markSize);
    gl.uniform1i(nodes.uniform("model"), this.model ? 1 : 0);
    gl.uniform3fv(nodes.uniform("ink"), ink);
    gl.uniform3fv(nodes.uniform("paper"), paper);
    gl.uniform3fv(nodes.uniform("plain"), plain);
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    attribute(gl, nodes, "place", buffers.place, 2, gl.FLOAT);
    attribute(gl, nodes, "value", buffers.value, 1, gl.FLOAT);
    attribute(gl, nodes, "flags", buffers.flags, 1, gl.UNSIGNED_BYTE);
    for (const marks of [0, 1]) { // marked nodes lie on top
      gl.uniform1i(nodes.uniform("marks"), marks);
      gl.drawArrays(gl.POINTS, 0, this.count);
    }
  }

  // close frees the graphics memory at once, because browsers allow few contexts.
  close() {
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}

function program(gl, vertex, fragment) {
  const made = gl.createProgram();
  for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
  return { program: made, uniform: (name) => gl.getUniformLocation(made, name), attribute: (name) => gl.getAttribLocation(made, name) };
}

function upload(gl, target, buffer, data) {
  gl.bindBuffer(target, buffer);
  gl.bufferData(target, data, gl.DYNAMIC_DRAW);
}

function attribute(gl, { attribute: at }, name, buffer, size, type) {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.enableVertexAttribArray(at(name));
  gl.vertexAttribPointer(at(name), size, type, false, 0, 0);
}
