import { hueOf } from '../look/environments.ts'

interface Environment {
  id: string
  name: string
  slug: string
  canDecrypt: boolean
}

/** The environments of an application or a group as marks: filled if this person holds the key. A text says the same. */
export function EnvStrip({ environments }: { environments: readonly Environment[] }) {
  return (
    <span
      className="env-strip"
      title={environments.map(({ name, canDecrypt }) => (canDecrypt ? name : `${name} (no key)`)).join(', ')}
    >
      {environments.map(({ id, slug, canDecrypt }) => (
        <span key={id} className="env" data-hue={hueOf(slug)} data-outlined={!canDecrypt || undefined} aria-hidden />
      ))}
      <span>{textOf(environments)}</span>
    </span>
  )
}

/** `6, no key to CI` */
function textOf(environments: readonly Environment[]): string {
  const closed = environments.filter(({ canDecrypt }) => !canDecrypt)
  const [first] = closed
  if (!first) return environments.length === 0 ? 'none' : String(environments.length)
  if (closed.length === environments.length) return `${environments.length}, no key`
  return `${environments.length}, no key to ${closed.length === 1 ? first.name : closed.length}`
}
