const width = 220
const height = 96

/** Draws an island of a sea chart. Each seed has its own island. */
export function Chart({ seed }: { seed: string }) {
  const random = randomFrom(seed)
  const shape = Array.from({ length: 9 }, () => 0.72 + random() * 0.5)
  const at = { x: 84 + random() * 52, y: 50 }
  const light = { x: at.x + 44 + random() * 20, y: 24 + random() * 12 }
  return (
    <svg className="chart" viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden>
      <rect x="0.5" y="0.5" width={width - 1} height={height - 1} className="neat" />
      {[1, 1.45, 1.9].map((size) => (
        <path key={size} d={coast(shape, at, 18 * size)} className={size === 1 ? 'land' : 'depth'} />
      ))}
      <path d={`M${light.x} ${light.y - 5}l4.5 9h-9z`} className="light" />
    </svg>
  )
}

/** Returns a closed line of curves around `at`, wider than high. */
function coast(shape: readonly number[], at: { x: number; y: number }, size: number): string {
  const points = shape.map((part, i) => {
    const angle = (i / shape.length) * 2 * Math.PI
    return [at.x + Math.cos(angle) * size * part * 1.7, at.y + Math.sin(angle) * size * part * 0.8] as const
  })
  const middles = points.map(([x, y], i) => {
    const [nextX, nextY] = points[(i + 1) % points.length]!
    return [(x + nextX) / 2, (y + nextY) / 2] as const
  })
  const curves = points.map(([x, y], i) => `Q${place(x, y)} ${place(...middles[i]!)}`)
  return `M${place(...middles.at(-1)!)}${curves.join('')}Z`
}

const place = (x: number, y: number) => `${x.toFixed(1)} ${y.toFixed(1)}`

/** Returns numbers from 0 to 1, the same for the same seed. */
function randomFrom(seed: string): () => number {
  let state = [...seed].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) >>> 0, 7)
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
