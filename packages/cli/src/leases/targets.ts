import { vendorName, vendorSlug } from '@skerry/contract/vendors'
import { provisionerOf } from '@skerry/sdk/internal/provisioned-leases'
import {
  createLeaseTarget,
  findProvisioner,
  type LeaseTarget,
  listLeaseTargets,
  replaceAdminSecret,
} from '@skerry/sdk/leases'
import { Failure, usage } from '../failure.ts'
import { findOne } from '../find-one.ts'
import type { InOrg, SignedIn } from '../frame.ts'
import { readValue } from '../input.ts'
import { noteReaders } from '../known-readers.ts'
import { checkTokenId } from '../names.ts'
import { note, type Output, warn, writeLine, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { ReaderFlags } from '../reader-names.ts'
import { acceptGrantees, acceptReaders } from '../readers.ts'
import type { Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { findToken, wantedTokenName } from '../tokens/find.ts'
import { adminQuestion, buildConfig, type ConfigOptions } from './config.ts'
import { acceptTarget, changesOfTarget, checkTarget } from './known-target.ts'

interface AddOptions extends Flags, ConfigOptions, ReaderFlags {
  yes?: boolean
}

export async function add(name: string, { session, flags, orgId }: InOrg<AddOptions>): Promise<Output> {
  const adminSecret = await readAdminSecret(flags, adminQuestion(flags))
  const provisioner = await provisionerIdOf(session, flags.provisioner)
  const config = buildConfig(adminSecret, { ...flags, ...(provisioner === undefined ? {} : { provisioner }) })
  const provisionerName = flags.provisioner === undefined ? undefined : wantedTokenName(flags.provisioner)
  const subject = { name, provider: config.provider, config, provisionerName }
  const provisionerKeyJwk = await warnAndConfirm(session, subject, flags)
  const target = await createLeaseTarget(session.client, { orgId, name, config, adminSecret, provisionerKeyJwk })
  // Remembers the settings that this client sent, because the server's answer may be false.
  await session.knownState.writing.madeTarget({ orgId, id: target.id, name, provider: config.provider, config })
  const tokenId = provisionerOf(config)
  if (tokenId !== null && provisionerKeyJwk !== undefined)
    await noteReaders(session, { orgId, id: target.id }, [{ principalId: tokenId, publicKeyJwk: provisionerKeyJwk }])
  return outputOf(target, `added target ${target.name}: ${target.server ?? target.status}`)
}

/** The id of the service token that `--provisioner` names. */
async function provisionerIdOf(session: Session, wanted: string | undefined): Promise<string | undefined> {
  if (wanted === undefined) return undefined
  checkTokenId(wanted)
  return wantedTokenName(wanted) === undefined ? wanted : (await findToken(session, wanted)).id
}

/** Removes the line end that editors add, which is not part of a connection string. A private key works without it. */
async function readAdminSecret({ file }: { file?: string | undefined }, question: string): Promise<string> {
  const text = (await readValue('the admin credential', file === undefined ? { question } : { file })).trim()
  if (text === '') throw usage('the admin credential is empty', 'pipe it in, or use --file')
  return text
}

interface Change {
  /** Undefined for a new target. */
  id?: string
  config: object
  /** The name of the provisioner's token, as the user wrote it; undefined if the user wrote the id. */
  provisionerName?: string | undefined
}

/** Warns and asks, because the server can read few things, and the admin credential is one of them. */
async function warnAndConfirm(
  session: Session,
  { id, name, provider, config, provisionerName }: Pick<LeaseTarget, 'name' | 'provider'> & Change,
  flags: ReaderFlags & { yes?: boolean },
): Promise<string | undefined> {
  const tokenId = provisionerOf(config)
  if (tokenId !== null) return provisionerKey(session, { id, name, provisionerName }, tokenId, flags)
  await acceptReaders(session, {}, flags)
  warn('the server signs in to the target, so it can read this admin credential: create one only for Skerry')
  await confirmOrRefuse(`gives the server the admin credential of ${name} (${vendorName(provider)})`, flags)
  return undefined
}

/**
 * Compares the provisioner's key with the key seen before, because the holder of its private key can read the
 * credential. The user names the token of a new target; the server names the token of an existing target (`id`).
 */
async function provisionerKey(
  session: Session,
  { id, name, provisionerName }: { id: string | undefined; name: string; provisionerName: string | undefined },
  tokenId: string,
  flags: ReaderFlags & { yes?: boolean },
) {
  const { id: orgId } = await session.org()
  const token = await findProvisioner(session.client, orgId, tokenId)
  const { name: tokenName, publicKeyJwk } = token
  const wantedName = provisionerName
  const readers = [{ principalId: tokenId, principalType: 'service_token', name: tokenName, wantedName, publicKeyJwk }]
  const what = `the admin credential of ${name}`
  const keep =
    id === undefined
      ? await acceptGrantees(session, { what, grantees: readers }, flags)
      : (await acceptReaders(session, { receivers: { orgId, id, what, readers } }, flags)).keep
  note(`the token ${tokenName} can read this admin credential; the server cannot`)
  await confirmOrRefuse(`gives the provisioner ${tokenName} the admin credential of ${name}`, flags)
  await keep()
  return publicKeyJwk
}

function outputOf(target: LeaseTarget, done: string): Output {
  for (const one of target.notes) note(one)
  if (target.status === 'untested')
    warn('nothing has signed in to the target yet: run `skerry provisioner` with its service token')
  if (target.lastError !== null) warn(target.lastError)
  return { json: { target }, text: () => writeLine(target.id), after: () => note(done) }
}

export async function list({ session, orgId }: InOrg): Promise<Output> {
  const targets = await listLeaseTargets(session.client, orgId)
  return {
    json: { targets },
    text: () =>
      writeTable(
        ['id', 'name', 'provider', 'status', 'server'],
        targets.map((one) => [
          one.id,
          one.name,
          vendorSlug(one.provider),
          one.lastError ?? one.status,
          one.server ?? '',
        ]),
        'no targets yet; add one with `skerry lease target create <name>`',
      ),
  }
}

/** Finds a target by its name or id. */
export async function targetOf(session: Session, wanted: string): Promise<LeaseTarget> {
  const { id: orgId } = await session.org()
  const targets = await listLeaseTargets(session.client, orgId)
  return findOne(targets, wanted, {
    kind: 'leaseTarget',
    noun: 'lease target',
    list: 'skerry lease target ls',
    nameOf: ({ name }) => name,
  })
}

export async function verify(wanted: string, { session, orgId }: InOrg): Promise<Output> {
  const found = await targetOf(session, wanted)
  const { target } = await session.client.leases.verifyTarget({ params: { orgId, targetId: found.id } })
  const isReady = target.status === 'ready'
  return {
    json: { target },
    text: () => {
      if (isReady) writeLine(`${target.name} is ready: ${target.server}`)
    },
    after: () => {
      if (!isReady) throw new Failure('conflict', `target ${target.name}: ${target.lastError ?? target.status}`)
      for (const one of target.notes) note(one)
    },
  }
}

/** Accepts the current settings of a target, for example after somebody on the team removed it and added it again. */
export async function trust(wanted: string, { session, flags }: SignedIn<Confirmable>): Promise<Output> {
  const found = await targetOf(session, wanted)
  const changes = await changesOfTarget(session, found)
  if (changes === undefined) note(`lease target ${found.name} has not changed`)
  else {
    note(changes)
    await confirmOrRefuse(`accepts the current settings of lease target ${found.name}`, flags)
    await acceptTarget(session, found)
  }
  return { json: { target: { id: found.id, name: found.name }, accepted: changes ?? null } }
}

export async function replace(
  wanted: string,
  { session, flags, orgId }: InOrg<Confirmable & ReaderFlags & { file?: string }>,
): Promise<Output> {
  const found = await targetOf(session, wanted)
  await checkTarget(session, found)
  const adminSecret = await readAdminSecret(flags, adminQuestion({ provider: found.provider }))
  const provisionerKeyJwk = await warnAndConfirm(session, found, flags)
  const target = await replaceAdminSecret(session.client, found, { orgId, adminSecret, provisionerKeyJwk })
  return outputOf(target, `replaced the admin credential of ${found.name}; Skerry no longer uses the old one`)
}

export async function remove(
  wanted: string,
  { session, flags, orgId }: InOrg<Confirmable & { force?: boolean }>,
): Promise<Output> {
  const found = await targetOf(session, wanted)
  await checkTarget(session, found)
  const forced = flags.force ? ' and leaves the accounts of its live leases on it' : ''
  await confirmOrRefuse(`deletes lease target ${found.name}${forced}`, flags)
  const query = flags.force ? ({ force: 'true' } as const) : {}
  await session.client.leases.deleteTarget({ params: { orgId, targetId: found.id }, query })
  note(`deleted target ${found.name}; now delete its admin account on the target`)
  return { json: { deleted: found.id } }
}
