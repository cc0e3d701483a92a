import { putSecret, rewriteIfRekeyed, type WrittenSecret } from '@skerry/sdk/secrets'
import { Failure } from '../failure.ts'
import type { AtPlace } from '../frame.ts'
import { checkSecretName } from '../names.ts'
import { note, type Output } from '../output.ts'
import type { Flags } from '../settings.ts'
import { refuseIfProtected, refuseQueued } from './protection.ts'
import { noteOf, noteQueued, type Queueing, withoutCiphertext } from './queued.ts'
import { listSecrets, openKey } from './values.ts'
import { randomValue } from './write.ts'

interface Options extends Flags, Queueing {
  length: string
  overwrite?: boolean
}

/** Makes values that nobody has to see. Existing secrets stay as they are, unless `--overwrite` is given. */
export async function generate(
  _given: string[],
  { session, flags, place, input: { names, values } }: AtPlace<Options, typeof parseGenerate>,
): Promise<Output> {
  const { orgId, envId, label } = place
  const versions = new Map((await listSecrets(session, place)).map(({ name, version }) => [name, version]))
  const there = names.filter((name) => versions.has(name))
  if (there.length > 0 && !flags.overwrite) {
    throw new Failure('conflict', `${label} has ${there.join(', ')} already; nothing was written`, 'add --overwrite')
  }
  await refuseIfProtected(session, place, flags)
  const key = await openKey(session, place)
  const written: WrittenSecret[] = []
  const queued = []
  for (const { name, value } of values) {
    const options = { expectedVersion: versions.get(name) ?? 0, ...noteOf(flags) }
    const answer = await putSecret(session.client, { orgId, envId, name }, value, key.dek, options).catch((error) => {
      if (written.length > 0) note(`written: ${written.map((one) => one.name).join(', ')}`)
      throw error
    })
    if (!('queued' in answer)) written.push({ name, value, version: answer.secret.version })
    else queued.push(answer.changeRequest)
    if (queued.length > 0 && flags.failIfQueued) break
  }
  const now =
    written.length === 0 ? [] : await rewriteIfRekeyed(session.client, place, await session.key(), key, written)
  const done = now.map(({ name }) => name)
  for (const change of queued) refuseQueued(change, place, flags, done)
  noteQueued(queued, label)
  if (now.length > 0) note(`generated ${done.join(', ')} in ${label}`)
  const secrets = now.map(({ name, version }) => ({ name, version }))
  return { json: { generated: secrets, queued: queued.map(withoutCiphertext), environmentId: envId } }
}

export function parseGenerate(flags: Options, given: string[]) {
  const names = [...new Set(given.map(checkSecretName))]
  const values = names.map((name) => ({ name, value: randomValue(flags.length, '--length') }))
  return { names, values }
}
