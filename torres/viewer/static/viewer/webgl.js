// The little of WebGL that the board in 3D needs: two programs, buffers of corners, and
// labels that always face the viewer. A library would be forty times as large.

export const STOREY = 0.4;  // the height of a block; a space is 1 wide
const CELL = 64;  // pixels of a label in the picture of all labels
const GRID = 16;

const HEAD = "#version 300 es\nprecision highp float;\n";
const SOLID = [`${HEAD}
uniform mat4 camera; uniform vec3 at;
layout(location=0) in vec3 place; layout(location=1) in vec3 normal;
layout(location=2) in vec3 colour; layout(location=3) in vec4 face;
out vec3 here, up, paint; out vec4 side;
void main() {
  here = place + at; up = normal; paint = colour; side = face;
  gl_Position = camera * vec4(here, 1);
}`, `${HEAD}
uniform vec3 eye;
in vec3 here, up, paint; in vec4 side; out vec4 pixel;
const vec3 SUN = normalize(vec3(-.45, 1., .75));
// side.z: 0 a figure, 1 a roof, 2 a wall with a door, 3 a roof that the action names
void main() {
  vec3 n = normalize(up);
  float light = .55 + .36 * max(dot(n, SUN), 0.) + .11 * n.y;
  vec3 shown = paint * light * side.w;
  if (side.z < .5) {
    vec3 half_way = normalize(SUN + normalize(eye - here));
    shown += .3 * pow(max(dot(n, half_way), 0.), 40.);
  } else {
    bool wall = abs(side.z - 2.) < .5;
    float across = abs(side.x - .5);
    float door = max(across - .15, side.y - .7 + 1.3 * across);
    if (wall) shown *= mix(.3, 1., smoothstep(-.5, .5, door / fwidth(door)));
    vec2 near = min(side.xy, 1. - side.xy) * vec2(1., wall ? ${STOREY} : 1.);
    float edge = min(near.x, near.y), width = side.z > 2.5 ? .06 : .014;
    float line = 1. - smoothstep(width, width + fwidth(edge), edge);
    shown *= 1. - line * (side.z > 2.5 ? .85 : .45);
  }
  pixel = vec4(shown, 1);
}`];
const LABEL = [`${HEAD}
uniform mat4 camera; uniform vec3 eye; uniform vec2 pixels;
layout(location=0) in vec3 anchor; layout(location=1) in vec2 corner;
layout(location=2) in vec2 cell;
out vec2 spot;
void main() {
  spot = cell;
  gl_Position = camera * vec4(anchor, 1);
  vec4 nearer = camera * vec4(anchor + .6 * normalize(eye - anchor), 1);
  gl_Position.z = nearer.z / nearer.w * gl_Position.w;
  gl_Position.xy += corner * pixels * gl_Position.w;
}`, `${HEAD}
uniform sampler2D picture; uniform float opacity;
in vec2 spot; out vec4 pixel;
void main() { pixel = texture(picture, spot) * opacity; }`];

function program(gl, sources) {
  const made = gl.createProgram();
  [gl.VERTEX_SHADER, gl.FRAGMENT_SHADER].forEach((kind, index) => {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, sources[index]);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  });
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made) || "no WebGL");
  return made;
}

// Corners in the memory of the graphics card. `sizes` are the numbers of each attribute.
class Corners {
  constructor(gl, sizes) {
    this.gl = gl;
    this.floats = sizes.reduce((sum, size) => sum + size);
    this.array = gl.createVertexArray();
    this.buffer = gl.createBuffer();
    gl.bindVertexArray(this.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    let offset = 0;
    sizes.forEach((size, index) => {
      gl.enableVertexAttribArray(index);
      gl.vertexAttribPointer(index, size, gl.FLOAT, false, 4 * this.floats, 4 * offset);
      offset += size;
    });
  }

  load(numbers) {
    this.count = numbers.length / this.floats;
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.buffer);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, new Float32Array(numbers), this.gl.DYNAMIC_DRAW);
    return this;
  }

  draw() {
    this.gl.bindVertexArray(this.array);
    this.gl.drawArrays(this.gl.TRIANGLES, 0, this.count);
  }
}

// Texts and discs, each drawn once into one picture.
class Labels {
  constructor(gl) {
    this.gl = gl;
    this.canvas = new OffscreenCanvas(GRID * CELL, GRID * CELL);
    this.pen = this.canvas.getContext("2d");
    this.cells = new Map();
    this.texture = gl.createTexture();
  }

  // Return the number of a label's cell. `disc` is the colour behind the text, or "".
  cell(text, colour, disc) {
    const key = `${text} ${colour} ${disc}`;
    if (this.cells.has(key)) return this.cells.get(key);
    if (this.cells.size === GRID * GRID) this.cells.clear();  // only after very many points
    const number = this.cells.size;
    this.cells.set(key, number);
    const [x, y] = [(number % GRID) * CELL, Math.floor(number / GRID) * CELL];
    const { pen } = this;
    pen.clearRect(x, y, CELL, CELL);
    if (disc) {
      pen.beginPath();
      pen.arc(x + CELL / 2, y + CELL / 2, CELL / 2 - 4, 0, 7);
      pen.fillStyle = disc;
      pen.fill();
      pen.lineWidth = 4;
      pen.strokeStyle = "#fff";
      pen.stroke();
    }
    pen.font = `${disc ? 700 : 600} ${text.length > 2 ? 28 : 38}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = colour;
    pen.fillText(text, x + CELL / 2, y + CELL / 2 + 3);
    this.fresh = true;
    return number;
  }

  // The two triangles of a label, `size` in pixels.
  corners([x, y, z], text, colour, disc = "", size = 24) {
    const number = this.cell(text, colour, disc);
    return [[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]].flatMap(([u, v]) => [
      x, y, z, u * size, v * size,
      ((number % GRID) + (1 + u) / 2) / GRID, (Math.floor(number / GRID) + (1 - v) / 2) / GRID,
    ]);
  }

  bind() {
    const { gl } = this;
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    if (!this.fresh) return;
    this.fresh = false;
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, true);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, this.canvas);
    gl.generateMipmap(gl.TEXTURE_2D);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
  }
}

// Draws the solids and labels that it was given, seen by a camera.
export class Renderer {
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: true });
    if (!gl) throw new Error("no WebGL");
    this.gl = gl;
    this.canvas = canvas;
    this.solid = program(gl, SOLID);
    this.label = program(gl, LABEL);
    this.labels = new Labels(gl);
    this.board = this.solids();
    this.texts = new Corners(gl, [3, 2, 2]);
    this.discs = new Corners(gl, [3, 2, 2]);
    gl.enable(gl.CULL_FACE);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  solids() {
    return new Corners(this.gl, [3, 3, 3, 4]);
  }

  // `figures` are pairs of corners and a place. `eye` is where the camera is.
  draw(camera, eye, figures) {
    const { gl, canvas } = this;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    this.use(this.solid, camera, eye);
    for (const [corners, place] of [[this.board, [0, 0, 0]], ...figures]) {
      gl.uniform3fv(gl.getUniformLocation(this.solid, "at"), place);
      corners.draw();
    }
    this.use(this.label, camera, eye);
    this.labels.bind();
    gl.enable(gl.BLEND);
    gl.uniform2f(gl.getUniformLocation(this.label, "pixels"), 2 * devicePixelRatio / canvas.width, 2 * devicePixelRatio / canvas.height);
    this.drawLabels(this.texts, 1);
    this.drawLabels(this.discs, 1);
    gl.disable(gl.DEPTH_TEST);  // the disc of a knight behind a tower shines through
    this.drawLabels(this.discs, 0.35);
  }

  use(made, camera, eye) {
    this.gl.useProgram(made);
    this.gl.uniformMatrix4fv(this.gl.getUniformLocation(made, "camera"), false, camera);
    this.gl.uniform3fv(this.gl.getUniformLocation(made, "eye"), eye);
  }

  drawLabels(corners, opacity) {
    this.gl.uniform1f(this.gl.getUniformLocation(this.label, "opacity"), opacity);
    corners.draw();
  }
}
