import { environmentKey } from '@skerry/sdk/secrets'
import { type WentBack, WentBackError } from '@skerry/sdk/seen'
import { createSkerry } from '@skerry/sdk/skerry'
import { note } from './output.ts'
import type { Place } from './places.ts'
import { openSeen } from './seen.ts'
import { type Session, userAgent } from './session.ts'

/** Looks at an environment as its commands would -> what is otherwise than before, and nothing is remembered. */
export async function changesOf(session: Session, place: Place): Promise<readonly WentBack[]> {
  const found: WentBack[] = []
  const collect = (error: WentBackError) => {
    found.push(...error.changes)
    throw error
  }
  for (const look of looks(session, place, collect)) {
    await look().catch((error) => {
      if (!(error instanceof WentBackError)) throw error
    })
  }
  // A key that changed shows in every look.
  return found.filter((one, at) => found.findIndex((other) => isSame(one, other)) === at)
}

const isSame = (a: WentBack, b: WentBack) =>
  a.kind === b.kind && a.environmentId === b.environmentId && (a.kind === 'key_changed' || a.what === b.what)

/** Takes what the server shows now as what is to be expected. */
export async function acceptNow(session: Session, place: Place): Promise<void> {
  for (const look of looks(session, place, ({ message }) => note(`accepted: ${message}`))) await look()
}

function looks(session: Session, place: Place, onWentBack: (error: WentBackError) => void) {
  const { client, settings, principal } = session
  const { url: baseUrl, allowInsecure } = settings
  const { orgId, envId, label } = place
  const seen = openSeen(settings, principal.id, { onWentBack })
  const resolve = async () => {
    if (place.kind === 'group') return
    const branch = place.kind === 'branch' ? { branch: envId } : {}
    const reader = await session.reader()
    await createSkerry({ ...reader, baseUrl, allowInsecure, userAgent, env: place.parentId, ...branch, seen }).resolve()
  }
  const own = async () => {
    // Without its memory, which would refuse: here, the comparison is with `seen`.
    const holder = { ...(await session.key()), seen: undefined }
    const [key, { secrets }] = await Promise.all([
      environmentKey(client, { orgId, envId }, holder),
      client.secrets.list({ params: { orgId, envId } }),
    ])
    await seen.check([{ environmentId: envId, label, key: key.bytes, secrets }])
  }
  return [resolve, own]
}
