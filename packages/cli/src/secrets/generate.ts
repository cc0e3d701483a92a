import { putSecret, rewriteIfRekeyed, type WrittenSecret } from '@skerry/sdk/secrets'
import { Failure } from '../failure.ts'
import type { AtPlace } from '../frame.ts'
import { checkSecretName } from '../names.ts'
import { note, type Output } from '../output.ts'
import type { Flags } from '../settings.ts'
import { noteOf, noteQueued, withoutCiphertext } from './queued.ts'
import { listSecrets, openKey } from './values.ts'
import { randomValue } from './write.ts'

interface Options extends Flags {
  length: string
  overwrite?: boolean
  note?: string
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
  const key = await openKey(session, place)
  const written: WrittenSecret[] = []
  const queued = []
  for (const { name, value } of values) {
    const options = { expectedVersion: versions.get(name) ?? 0, ...noteOf(flags) }
    const answer = await putSecret(session.client, { orgId, envId, name }, value, key.dek, options)
    if ('queued' in answer) queued.push(answer.changeRequest)
    else written.push({ name, value, version: answer.secret.version })
  }
  const now =
    written.length === 0 ? [] : await rewriteIfRekeyed(session.client, place, await session.key(), key, written)
  noteQueued(queued, label)
  if (now.length > 0) note(`generated ${now.map(({ name }) => name).join(', ')} in ${label}`)
  const secrets = now.map(({ name, version }) => ({ name, version }))
  return { json: { generated: secrets, queued: queued.map(withoutCiphertext), environmentId: envId } }
}

export function parseGenerate(flags: Options, given: string[]) {
  const names = [...new Set(given.map(checkSecretName))]
  const values = names.map((name) => ({ name, value: randomValue(flags.length) }))
  return { names, values }
}
