/** A drawing of boxes and arrows. Sizes are in pixels. */
export interface Diagram {
  /** Read by screen readers. */
  title: string
  width: number
  height: number
  zones: readonly Zone[]
  boxes: readonly Box[]
  arrows: readonly Arrow[]
}

interface Rectangle {
  x: number
  y: number
  width: number
  height: number
}

/** An area with a name, behind the boxes. */
interface Zone extends Rectangle {
  label: string
  /** The server's zone looks unlike those of machines that have keys. */
  kind: 'machine' | 'server'
}

interface Box extends Rectangle {
  id: string
  title: string
  detail?: string
  kind: 'key' | 'sealed' | 'value' | 'plain'
}

/** An arrow between two boxes, with words beside it. */
interface Arrow {
  from: string
  to: string
  label?: string
}

/** Draws a diagram as SVG, for light and dark surroundings. */
export function drawDiagram({ title, width, height, zones, boxes, arrows }: Diagram): string {
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${style}</style>`,
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>',
    `<rect class="surface" width="${width}" height="${height}"/>`,
    ...zones.map(drawZone),
    ...arrows.map((arrow) => drawArrow(arrow, boxes)),
    ...boxes.map(drawBox),
    '</svg>',
  ]
  return `${parts.join('\n')}\n`
}

// The colours of packages/dashboard/app/look/tokens.css. A picture cannot load another file.
const style = `
text{font:14px system-ui,sans-serif;fill:#13212a}.detail,.label,.name{font-size:12px;fill:#42515a}.name{font-weight:600}
.surface{fill:#fff}.zone{fill:#f2f5f5;stroke:#dde4e6}.zone.server{fill:#fcf2dd;stroke:#e3c68c}
.box{fill:#fff;stroke:#818e95}.box.key{stroke:#0a6280;stroke-width:2}.box.sealed{stroke-dasharray:5 3}.box.value{fill:#e4f3ea;stroke:#19703f}
.arrow{stroke:#42515a;stroke-width:1.5;fill:none}.tip{fill:#42515a}
@media(prefers-color-scheme:dark){text{fill:#e4ecef}.detail,.label,.name{fill:#b4c1c7}
.surface{fill:#111a1e}.zone{fill:#0b1215;stroke:#223038}.zone.server{fill:#30260f;stroke:#5f4a1c}
.box{fill:#172329;stroke:#65757d}.box.key{stroke:#6cc3df}.box.value{fill:#11301f;stroke:#7fd0a0}
.arrow{stroke:#b4c1c7}.tip{fill:#b4c1c7}}
`.replaceAll('\n', '')

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const place = ({ x, y, width, height }: Rectangle) => `x="${x}" y="${y}" width="${width}" height="${height}" rx="6"`

function drawZone(zone: Zone): string {
  const label = `<text class="name" x="${zone.x + 12}" y="${zone.y + 22}">${escaped(zone.label)}</text>`
  return `<rect class="zone ${zone.kind}" ${place(zone)}/>${label}`
}

function drawBox(box: Box): string {
  const { x, y, height, title, detail, kind } = box
  const middle = y + height / 2
  const line = (text: string, at: number, name = '') => `<text${name} x="${x + 12}" y="${at}">${escaped(text)}</text>`
  const words =
    detail === undefined
      ? line(title, middle + 5)
      : `${line(title, middle - 4)}${line(detail, middle + 14, ' class="detail"')}`
  return `<rect class="box ${kind}" ${place(box)}/>${words}`
}

function drawArrow({ from, to, label }: Arrow, boxes: readonly Box[]): string {
  const [start, end] = [from, to].map((id) => boxes.find((box) => box.id === id))
  if (!start || !end) throw new Error(`an arrow leads from ${from} to ${to}, of which one is no box`)
  const [x1, y1, x2, y2] = edges(start, end)
  const words =
    label &&
    `<text class="label" x="${(x1 + x2) / 2}" y="${(y1 + y2) / 2 - 6}" text-anchor="middle">${escaped(label)}</text>`
  return `<path class="arrow" d="M${x1} ${y1}L${x2} ${y2}" marker-end="url(#tip)"/>${words ?? ''}`
}

/** The points at which an arrow leaves the first box and reaches the second one. */
function edges(one: Rectangle, other: Rectangle): [number, number, number, number] {
  const middle = ({ x, y, width, height }: Rectangle) => [x + width / 2, y + height / 2] as const
  const [[cx1, cy1], [cx2, cy2]] = [middle(one), middle(other)]
  if (other.x >= one.x + one.width) return [one.x + one.width, cy1, other.x, cy2]
  if (other.x + other.width <= one.x) return [one.x, cy1, other.x + other.width, cy2]
  if (other.y >= one.y + one.height) return [cx1, one.y + one.height, cx2, other.y]
  return [cx1, one.y, cx2, other.y + other.height]
}
