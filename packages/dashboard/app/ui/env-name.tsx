import { hueOf } from '../look/environments.ts'

/**
 * The name of an environment behind a mark of its colour. Production’s mark is wider, and its name is coloured. With
 * `solid` the whole name is filled, for places where a person decides.
 */
export function EnvName({ name, slug, solid = false }: { name: string; slug: string; solid?: boolean }) {
  const hue = hueOf(slug)
  return (
    <span className="env" data-hue={hue} data-solid={(solid && hue === 'prod') || undefined} title={name}>
      <span>{name}</span>
    </span>
  )
}
