import { createHash, createPublicKey, verify as verifySignature } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { access, readFile, stat } from 'node:fs/promises'
import { type ArchiveTools, checkArchive, DamagedArchive } from '@skerry/contract/export/archive-check'
import { respellArchive, respelledBytesMax } from '@skerry/contract/export/archive-spelling'
import canonicalize from 'canonicalize'
import type { Command } from 'commander'
import { orderSections } from '../features/archive.ts'
import { type Restored, restore } from '../features/export/restoring.ts'
import { features } from '../features.ts'
import { type Operation, Refused, type WithDatabase } from './database.ts'

interface Options {
  key?: string
  unverified?: boolean
}

export function register(command: Command, withDatabase: WithDatabase): void {
  command
    .command('restore')
    .argument('<archive>', 'a file that `skerry org export` has written')
    .option(
      '--key <publicKey>',
      'of the server that made it: its /.well-known/skerry-export-signing-key, as you noted it',
    )
    .option('--unverified', 'take the archive as it is: nobody can tell who made it')
    .description('Make an organization here again, from its archive')
    .action(async (path: string, options: Options) => {
      const source = await openSource(path, options)
      await withDatabase((operation) => restoreFrom(operation, source), { create: true })
    })
}

interface Source {
  open: () => AsyncIterable<Uint8Array>
  verify: ArchiveTools['verify']
}

/** Checks the whole archive before a database is opened, so that a damaged archive creates no database. */
async function openSource(path: string, { key, unverified }: Options): Promise<Source> {
  if ((key === undefined) === (unverified !== true))
    throw new Refused(
      'Give --key with the public key that `skerry org export` printed, or --unverified to restore an archive of unknown origin.',
    )
  await access(path).catch(() => {
    throw new Refused(`Cannot read ${path}.`)
  })
  const open = () => createReadStream(path)
  const verify = key === undefined ? undefined : signedBy(key)
  const check = (from: Source['open']) => checkArchive(from(), { sha256: () => createHash('sha256'), verify })
  try {
    await check(open)
    return { open, verify }
  } catch (error) {
    const respelled = error instanceof DamagedArchive ? await respell(path) : null
    if (respelled === null) throw error
    await check(respelled)
    return { open: respelled, verify }
  }
}

/** Another program may have rewritten the archive, with the same content and other whitespace. */
const respell = async (path: string): Promise<Source['open'] | null> =>
  (await stat(path)).size > respelledBytesMax
    ? null
    : respellArchive(await readFile(path, 'utf8'), (value) => canonicalize(value) ?? '')

async function restoreFrom({ db, print }: Operation, { open, verify }: Source): Promise<void> {
  const restored = await restore({ db, now: () => new Date(), archiveSections: orderSections(features) }, open, verify)
  for (const line of wordsOf(restored)) print(line)
}

function signedBy(publicKey: string): NonNullable<ArchiveTools['verify']> {
  const bytes = Buffer.from(publicKey, 'base64url')
  if (bytes.length !== 32 || bytes.toString('base64url') !== publicKey)
    throw new Refused('--key takes the 43 characters of `publicKey`.')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' })
  return (text, { value }) => {
    const signature = Buffer.from(value, 'base64url')
    return signature.toString('base64url') === value && verifySignature(null, Buffer.from(text), key, signature)
  }
}

/** Describes what was restored, and names what could not be restored. */
function wordsOf({ manifest, rows, left, tokens, readerGrants, peopleWithoutKeys, trail }: Restored): string[] {
  const { organization, createdAt, included } = manifest
  const named = (what: string, names: readonly string[]) => (names.length === 0 ? [] : [`${what}: ${names.join(', ')}`])
  return [
    `${organization.slug} is restored as it was at ${createdAt}: ${rows} rows.`,
    ...(trail === true ? ['Its audit log is the one that was signed, and continues from there.'] : []),
    ...(included.audit && trail === null ? ['Its audit log has no proof from before. The server seals it anew.'] : []),
    ...(included.audit ? [] : ['The archive has no audit log. A new one begins here.']),
    ...named('Service tokens that work once their holders’ hashes are registered again', tokens),
    ...named('People who run `skerry keys passphrase` to store their sealed private key again', peopleWithoutKeys),
    ...[...left].flatMap(([advice, labels]) => named(advice, labels)),
    ...(readerGrants > 0
      ? [`Grants to rotators and sync connections of the other server: ${readerGrants} left out.`]
      : []),
    'Second factors, passkeys, sessions and the keys of the other server stayed there.',
  ]
}
