// @ts-check
// Scene draws nodes, marks and edges with WebGL2. Columns go to the graphics card as the server sent
// them: nothing is computed per node here.

import { classRamp } from "./classes.js";
import { ramp } from "./colour.js";
import { edgeFragment, edgeVertex, markFragment, markVertex, nodeFragment, nodeVertex } from "./shaders.js";

// Flags of a node, as the server sends them.
export const measured = 1, pending = 2, abandoned = 4, forbidden = 8;

export class Scene {
  // Throws an error for the user if the browser has no WebGL 2.
  constructor(canvas) {
    this.canvas = canvas;
    const gl = canvas.getContext("webgl2", { antialias: false });
    if (!gl) throw { title: "This browser cannot draw the map", detail: "it needs WebGL 2; the other views work without it" };
    this.gl = gl;
    this.nodes = new Layer(gl, nodeVertex, nodeFragment, ["x", "y", "value", "flags"]);
    this.marks = new Layer(gl, markVertex, markFragment, ["x", "y", "value", "flags"]);
    this.edges = new Layer(gl, edgeVertex, edgeFragment, ["ends", "values"], 1);
    this.texture = gl.createTexture();
    this.frame = null;
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  // place sets the positions of nodes.
  place(places) {
    this.frame = places;
    this.nodes.set("x", places.x);
    this.nodes.set("y", places.y);
    this.nodes.count = places.rows;
    this.value(null);
    this.flag(null);
  }

  // join sets the edges: x, y of both ends, four numbers each.
  join(ends) {
    this.edges.set("ends", ends, 4);
    this.edges.count = ends.length / 4;
    this.blend(null);
  }

  // value sets what colours nodes; null: nothing. blend is that of edges, two numbers each.
  value(values) {
    this.model = values !== null;
    this.nodes.set("value", values, 1, true);
  }

  blend(values) {
    this.blended = values !== null;
    this.edges.set("values", values, 2, true);
  }

  // flag sets the flags of nodes, null for none.
  flag(flags) {
    this.nodes.set("flags", flags);
  }

  // mark sets the marked nodes; values may be null.
  mark(x, y, flags, values) {
    this.marks.set("x", x);
    this.marks.set("y", y);
    this.marks.set("flags", flags);
    this.marks.set("value", values, 1, true);
    this.marks.count = x.length;
  }

  // scale sets the colours of values, or those of classes on paper of a colour.
  scale(name, paper = [1, 1, 1]) {
    const { gl } = this;
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    const colours = name === "class" ? classRamp(paper) : ramp(name);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, colours.length / 4, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, colours);
    for (const [parameter, to] of [["MIN_FILTER", "LINEAR"], ["MAG_FILTER", "LINEAR"], ["WRAP_S", "CLAMP_TO_EDGE"], ["WRAP_T", "CLAMP_TO_EDGE"]]) {
      gl.texParameteri(gl.TEXTURE_2D, gl[`TEXTURE_${parameter}`], gl[to]);
    }
  }

  // draw draws the view of the camera. Sizes of nodes, marks and edges are in CSS pixels, colours are
  // lists of shares: { ink, paper, plain, line }; below draws what is to be under all that.
  draw(camera, sizes, colours, below = () => {}) {
    const { gl, canvas, frame } = this;
    const dense = window.devicePixelRatio || 1;
    const width = Math.round(camera.width * dense), height = Math.round(camera.height * dense);
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (!frame) return;
    below();
    const [wide, high] = [frame.wide || 1, frame.high || 1];
    const common = {
      top: frame.top,
      centre: [(camera.x - frame.x0) / wide, (camera.y - frame.y0) / high],
      unit: [(2 * camera.zoom * wide) / camera.width, (2 * camera.zoom * high) / camera.height],
      screen: [width / 2, height / 2],
      ...colours,
    };
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    this.edges.draw({ ...common, size: sizes.edge * dense, model: this.blended ? 1 : 0 }, gl.TRIANGLE_STRIP, 4);
    this.nodes.draw({ ...common, size: sizes.node * dense, model: this.model ? 1 : 0 }, gl.POINTS);
    this.marks.draw({ ...common, size: sizes.mark * dense, model: this.model ? 1 : 0 }, gl.POINTS);
  }

  // close frees the graphics memory at once, because browsers allow few contexts.
  close() {
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}

// Layer is a program with its columns, one buffer each. With a divisor, every row is drawn as a shape
// of its own.
class Layer {
  constructor(gl, vertex, fragment, columns, divisor = 0) {
    this.gl = gl;
    this.divisor = divisor;
    this.program = program(gl, vertex, fragment);
    this.state = gl.createVertexArray();
    this.buffers = Object.fromEntries(columns.map((name) => [name, gl.createBuffer()]));
    this.uniforms = new Map();
    this.count = 0;
  }

  // set sets a column, of so many numbers per row; null: all are 0. Shares are whole numbers that stand
  // for 0 to 1.
  set(name, data, numbers = 1, shares = false) {
    const { gl } = this;
    const at = gl.getAttribLocation(this.program, name);
    gl.bindVertexArray(this.state);
    if (data === null) {
      gl.disableVertexAttribArray(at);
    } else {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, numbers, kindOf(gl, data), shares, 0, 0);
      gl.vertexAttribDivisor(at, this.divisor);
    }
    gl.bindVertexArray(null);
  }

  draw(values, mode, corners = 0) {
    const { gl } = this;
    if (this.count === 0) return;
    gl.useProgram(this.program);
    for (const [name, value] of Object.entries(values)) this.uniform(name, value);
    gl.bindVertexArray(this.state);
    if (corners > 0) gl.drawArraysInstanced(mode, 0, corners, this.count);
    else gl.drawArrays(mode, 0, this.count);
    gl.bindVertexArray(null);
  }

  // uniform sets a number or a list of them, if the program has such a one.
  uniform(name, value) {
    const { gl } = this;
    if (!this.uniforms.has(name)) this.uniforms.set(name, gl.getUniformLocation(this.program, name));
    const at = this.uniforms.get(name);
    if (at === null) return;
    if (name === "model") gl.uniform1i(at, value);
    else if (Array.isArray(value)) gl[`uniform${value.length}fv`](at, value);
    else gl.uniform1f(at, value);
  }
}

function kindOf(gl, data) {
  if (data instanceof Uint8Array) return gl.UNSIGNED_BYTE;
  if (data instanceof Uint16Array) return gl.UNSIGNED_SHORT;
  if (data instanceof Uint32Array) return gl.UNSIGNED_INT;
  return gl.FLOAT;
}

// program compiles the two shaders of a layer.
export function program(gl, vertex, fragment) {
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
  return made;
}
