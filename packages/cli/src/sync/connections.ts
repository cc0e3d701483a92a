import { type ConfigField, shapesOf } from '@skerry/contract/fields'
import { vendorSlug } from '@skerry/contract/vendors'
import { createSyncConnection, replaceSyncCredential } from '@skerry/sdk/internal/sync'
import { usage } from '../failure.ts'
import type { InOrg, SignedIn } from '../frame.ts'
import { readCredential, readTextFile } from '../input.ts'
import { forgetName, noteName, noteNew } from '../known-names.ts'
import { forgetReader } from '../known-readers.ts'
import { note, type Output, warn, writeLine, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { acceptServerReader } from '../server-readers.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { shownTime } from '../times.ts'
import { choicesOf, findProvider, listProviders, type Provider, readFields } from './fields.ts'
import { checkConnectionKey, describeDestination, findConnection, listBound } from './find.ts'

/** Lists the kinds of destinations, or the fields of one kind. */
export async function providers(wanted: string | undefined): Promise<Output> {
  const all = wanted === undefined ? await listProviders() : [await findProvider(wanted)]
  const facts = all.map(({ tag, slug, name, credential, config, destination }) => ({
    ...{ tag, slug, name, credential },
    config: shapesOf(config).flatMap(({ fields }) => fields.map(factsOf)),
    destination: shapesOf(destination).map(({ kind, fields }) => ({
      kind: kind ?? null,
      fields: fields.map(factsOf),
    })),
  }))
  return {
    json: { providers: facts },
    text: () => {
      if (wanted === undefined)
        writeTable(
          ['provider', 'name'],
          all.map(({ slug, name }) => [slug, name]),
        )
      else for (const provider of all) describe(provider)
    },
  }
}

const factsOf = (field: ConfigField) => {
  const { path: name, required, description } = field
  return { name, required, choices: choicesOf(field), description }
}

function describe({ slug, name, credential, config, destination }: Provider): void {
  writeLine(`${slug}: ${name}`)
  writeLine(`credential: ${credential}`)
  const [{ fields } = { fields: [] }] = shapesOf(config)
  writeLine(fields.length === 0 ? 'connect asks for nothing else' : 'connect --set:')
  fields.forEach(describeField)
  for (const shape of shapesOf(destination)) {
    writeLine(`verify and bind --to:${shape.kind === undefined ? '' : ` kind=${shape.kind}`}`)
    shape.fields.forEach(describeField)
  }
}

function describeField(field: ConfigField): void {
  const { path, required, description } = field
  const choices = choicesOf(field)
  const of = choices.length === 0 ? '' : ` (${choices.join(', ')})`
  writeLine(`  ${path}${required ? '' : ', optional'}${of}: ${description}`)
}

export interface CredentialOptions extends Flags {
  file?: string
  yes?: boolean
}

/** Removes the white space that editors add around a credential. */
async function readConnectionCredential({ name, credential }: Provider, { file }: CredentialOptions): Promise<string> {
  if (file === undefined) note(`${name}: ${credential}`)
  const text = file === undefined ? await readCredential(`Credential of ${name}`) : readTextFile(file).trim()
  if (text === '') throw usage('the credential is empty', 'pipe it in, or use --file')
  return text
}

const warnOfCredential = () =>
  warn('the server uses the credential, so it can read it: make one for Skerry alone, with as few rights as it needs')

export async function connect(
  _wanted: string,
  {
    session,
    flags,
    orgId,
    input: { provider },
  }: InOrg<CredentialOptions & { name?: string; set?: Record<string, string> }, typeof parseConnect>,
): Promise<Output> {
  const config = await readFields(provider, 'config', flags.set ?? {}, '--set')
  warnOfCredential()
  const name = flags.name ?? provider.slug
  const credential = await readConnectionCredential(provider, flags)
  await confirmOrRefuse(`gives the server a credential of ${provider.name} as ${name}`, flags)
  const connection = await createSyncConnection(session.client, { orgId, name, config, credential })
  await checkConnectionKey(session, connection)
  noteNew(session, orgId, { kind: 'syncConnection', id: connection.id, name })
  note(`connected ${connection.name}; nothing reads a secret until \`skerry sync bind ${connection.name}\``)
  return { json: { connection }, text: () => writeLine(connection.id) }
}

export const parseConnect = async (
  _flags: CredentialOptions & { name?: string; set?: Record<string, string> },
  wanted: string,
) => ({ provider: await findProvider(wanted) })

export async function replace(wanted: string, { session, flags, orgId }: InOrg<CredentialOptions>): Promise<Output> {
  const found = await findConnection(session, wanted)
  await checkConnectionKey(session, found)
  warnOfCredential()
  const credential = await readConnectionCredential(await findProvider(found.provider), flags)
  await confirmOrRefuse(`replaces the credential of ${found.name}`, flags)
  const connection = await replaceSyncCredential(session.client, found, { orgId, credential })
  note(
    `replaced the credential of ${connection.name}; what had failed is tried again, the old one is not used any more`,
  )
  return { json: { connection } }
}

export async function trust(wanted: string, { session, flags }: SignedIn<Confirmable>): Promise<Output> {
  const { id: principalId, name, publicKeyJwk } = await findConnection(session, wanted)
  return acceptServerReader(session, { principalId, name, publicKeyJwk }, name, flags)
}

export async function verify(
  wanted: string,
  { session, flags }: SignedIn<Flags & { to?: Record<string, string> }>,
): Promise<Output> {
  const connection = await findConnection(session, wanted)
  const { orgId, bound } = await listBound(session)
  const own = bound.filter(({ binding }) => binding.connectionId === connection.id)
  const destinations =
    flags.to === undefined && own.length > 0
      ? own.map(({ binding }) => binding.destination)
      : [await readFields(await findProvider(connection.provider), 'destination', flags.to ?? {}, '--to')]
  const verified = []
  for (const destination of destinations) {
    const params = { orgId, connectionId: connection.id }
    await session.client.sync.verifyConnection({ params, body: { destination } })
    verified.push({ destination })
    // Written at once, because the next destination may fail.
    if (!flags.json) writeLine(`${connection.name} reaches ${describeDestination({ destination })}`)
  }
  return { json: { connection: connection.id, verified } }
}

export async function rename(wanted: string, name: string, { session, orgId }: InOrg): Promise<Output> {
  const { id: connectionId } = await findConnection(session, wanted)
  const answer = await session.client.sync.updateConnection({ params: { orgId, connectionId }, body: { name } })
  noteName(session, orgId, { kind: 'syncConnection', id: connectionId, name })
  note(`${wanted} is ${answer.connection.name} now`)
  return { json: answer }
}

export async function list({ session }: SignedIn): Promise<Output> {
  const { connections, bound } = await listBound(session)
  return {
    json: { connections, bindings: bound.map(({ binding }) => binding) },
    text: () => {
      const unused = connections.filter(({ id }) => !bound.some(({ connection }) => connection.id === id))
      writeTable(
        ['connection', 'provider', 'status', 'binding', 'environment', 'destination', 'mode', 'last run'],
        [
          ...bound.map(({ binding, connection: { name, provider, status }, label }) => [
            ...[name, vendorSlug(provider), status, binding.id, label, describeDestination(binding)],
            binding.enabled ? binding.mode : 'paused',
            binding.lastRun === null ? 'never' : `${binding.lastRun.status} ${shownTime(binding.lastRun.startedAt)}`,
          ]),
          ...unused.map(({ name, provider, status }) => [name, vendorSlug(provider), status, '', '', '', '', '']),
        ],
        'no platform is connected yet; connect one with `skerry sync connect <provider>`',
      )
      for (const { name, lastError } of connections) if (lastError !== null) note(`${name}: ${lastError}`)
      for (const { binding } of bound) if (binding.lastError !== null) note(`${binding.id}: ${binding.lastError}`)
      const labels = [...new Set(bound.map(({ label }) => label))]
      if (labels.length > 0) note(`through sync the server can read ${labels.join(', ')}, with the groups in them`)
    },
  }
}

export async function disconnect(wanted: string, { session, flags }: SignedIn<Confirmable>): Promise<Output> {
  const connection = await findConnection(session, wanted)
  const { orgId, bound } = await listBound(session)
  const own = bound.filter(({ binding }) => binding.connectionId === connection.id)
  const with_ = own.length === 0 ? '' : `, with its bindings of ${own.map(({ label }) => label).join(', ')}`
  await confirmOrRefuse(`deletes the connection ${connection.name}${with_}`, flags)
  await session.client.sync.deleteConnection({ params: { orgId, connectionId: connection.id } })
  forgetReader(session, orgId, connection.id)
  forgetName(session, orgId, connection.id)
  note(`deleted ${connection.name}; what was pushed stays there, and its credential is still good: revoke it there`)
  if (own.length > 0) note('`skerry env rekey` makes the keys that the server had worthless')
  return { json: { deleted: connection.id } }
}
