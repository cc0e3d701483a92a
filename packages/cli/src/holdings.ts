import { note, warn } from './output.ts'
import { placeOptions } from './places.ts'
import type { Session } from './session.ts'

/** The environments whose key a principal holds, as `web/production` and the like. Ask before its grants are dropped. */
async function heldBy(session: Session, principalId: string): Promise<string[]> {
  const { client } = session
  const { id: orgId } = await session.org()
  const [{ apps }, { groups }] = await Promise.all([
    client.apps.list({ params: { orgId } }),
    client.groups.list({ params: { orgId } }),
  ])
  const places: { envId: string; label: string }[] = []
  for (const { id: appId, slug } of apps) {
    const [{ environments }, { branches }] = await Promise.all([
      client.apps.envs({ params: { orgId, appId } }),
      client.apps.branches({ params: { orgId, appId } }),
    ])
    const labels = new Map(environments.map((one) => [one.id, `${slug}/${one.slug}`]))
    for (const [envId, label] of labels) places.push({ envId, label })
    for (const { id, slug, parentEnvironmentId } of branches)
      places.push({ envId: id, label: `${labels.get(parentEnvironmentId ?? '')}@${slug}` })
  }
  for (const { id: groupId, slug } of groups) {
    const { environments } = await client.groups.envs({ params: { orgId, groupId } })
    for (const one of environments) places.push({ envId: one.id, label: `${slug}:${one.slug}` })
  }
  const held: string[] = []
  for (const { envId, label } of places) {
    const { grants } = await client.grants.list({ params: { orgId, envId } })
    if (grants.some((grant) => grant.principalId === principalId)) held.push(label)
  }
  return held
}

/** The same for a command that ends somebody's access, which must not fail because this does. */
export const heldByIfKnown = (session: Session, principalId: string): Promise<string[] | undefined> =>
  heldBy(session, principalId).catch(() => undefined)

/** After somebody's access ended: what they may still open, and what to run about it. */
export function hintRekey(who: string, held: string[] | undefined): void {
  if (held === undefined) warn(`which keys ${who} held is not known: see \`skerry grant list\``)
  if (held === undefined || held.length === 0) return
  note(`${who} held the key of ${held.join(', ')}, and may have kept it. Give them another, then change the values:`)
  for (const label of held) note(`  skerry env rekey ${placeOptions(label)}`)
}
