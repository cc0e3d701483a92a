import { createHash } from 'node:crypto'
import { type Bytes, decodeUtf8, encodeUtf8 } from '@skerry/crypto/base64url'
import { parsePublicKeyJwk } from '@skerry/crypto/keys'
import { formatSignature, parseSignature, verifyMessage } from '@skerry/crypto/kms-sign'
import { isSealedStream } from '@skerry/crypto/kms-stream'
import { Failure, usage } from '../failure.ts'
import { checkWritable, type Overwriting } from '../files.ts'
import type { SignedIn } from '../frame.ts'
import { readTextFile } from '../input.ts'
import { isTerminal, note, type Output, writeJson, writeLine } from '../output.ts'
import type { Flags } from '../settings.ts'
import { peek, readPieces, writePieces } from './bytes.ts'
import { openKey, publicKeysOf } from './find.ts'

/**
 * The longest data that becomes a blob. Longer data is encrypted as a stream, because a blob is one line of text and
 * must fit into memory.
 */
const blobMaxBytes = 65_536

/** Ed25519 reads its message twice, so the message must fit into memory. */
const wholeMessageMaxBytes = 64 * 1024 * 1024

const dataKeyMaxBytes = 1024

interface IoOptions extends Flags, Overwriting {
  file?: string
  out?: string
  context?: string
}

export async function encrypt(
  wanted: string,
  { session, flags, input }: SignedIn<IoOptions, typeof readInput>,
): Promise<Output | undefined> {
  const { opened } = await openKey(session, wanted)
  if (!input.isAll) {
    await writePieces(flags.out, opened.encryptStream(input.all(), flags.context), flags)
    return undefined
  }
  const blob = await opened.encrypt(input.start, flags.context)
  return {
    json: { ciphertext: blob },
    text: () => writePieces(flags.out, [encodeUtf8(`${blob}\n`)], flags),
  }
}

export async function readInput(flags: IoOptions) {
  checkWritable(flags.out, flags)
  const input = await peek(readPieces(flags.file), blobMaxBytes)
  if (!input.isAll && flags.out === undefined && isTerminal.stdout())
    throw usage(
      'input of more than 64 KiB gives a binary file, which cannot be shown on a terminal',
      'use --out, or send it into a pipe',
    )
  return input
}

export async function decrypt(
  wanted: string,
  { session, flags, input }: SignedIn<IoOptions & { reveal?: boolean }, typeof readSealed>,
): Promise<void> {
  const { opened } = await openKey(session, wanted)
  if (isSealedStream(input.start))
    return writePieces(flags.out, opened.decryptStream(input.all(), flags.context), flags)
  if (!input.isAll) throw usage('the input was not encrypted with `skerry kms encrypt`')
  const plaintext = await openBlob(opened, textOf(input.start), flags.context).catch((error: { code?: string }) => {
    if (error.code !== 'decryption_failed') throw error
    throw new Failure(
      'failure',
      'the input cannot be decrypted: the key, its version or --context is wrong, or the ciphertext was changed',
    )
  })
  await writePieces(flags.out, [plaintext], flags)
}

export async function readSealed(flags: IoOptions & { reveal?: boolean }) {
  if (flags.out === undefined && isTerminal.stdout() && !flags.reveal)
    throw usage('decrypted data is not shown on a terminal', 'add --reveal, or use --out')
  checkWritable(flags.out, flags)
  // A blob is at most four thirds as long as its content.
  const input = await peek(readPieces(flags.file), blobMaxBytes * 2)
  return input
}

function textOf(bytes: Bytes): string {
  try {
    return decodeUtf8(bytes).trim()
  } catch {
    throw usage('the input was not encrypted with `skerry kms encrypt`')
  }
}

async function openBlob(
  opened: Awaited<ReturnType<typeof openKey>>['opened'],
  blob: string,
  context: string | undefined,
): Promise<Bytes> {
  if (!blob.startsWith('dk1.')) return opened.decrypt(blob, context)
  if (context !== undefined) throw usage('--context cannot be used for a data key')
  return opened.openDataKey(blob)
}

/**
 * Makes a data key. The key goes into a file or a pipe. The wrapped key must be stored beside the data that the key
 * encrypts.
 */
export async function dataKey(
  wanted: string,
  { session, flags }: SignedIn<IoOptions & { bytes: string; reveal?: boolean }>,
): Promise<Output> {
  const { opened } = await openKey(session, wanted)
  const { plaintext, wrapped } = await opened.newDataKey(Number(flags.bytes))
  if (flags.out === undefined) {
    const json = { plaintext: Buffer.from(plaintext).toString('base64'), wrapped, keyId: opened.keyId }
    return { json, text: () => writeJson(json) }
  }
  await writePieces(flags.out, [plaintext], flags)
  return { json: { wrapped, keyId: opened.keyId }, text: () => writeLine(wrapped) }
}

export function checkDataKey(flags: IoOptions & { bytes: string; reveal?: boolean }): void {
  const bytes = /^\d{1,4}$/.test(flags.bytes) ? Number(flags.bytes) : 0
  if (bytes < 1 || bytes > dataKeyMaxBytes) throw usage(`--bytes must be a whole number from 1 to ${dataKeyMaxBytes}`)
  if (flags.out === undefined && isTerminal.stdout() && !flags.reveal)
    throw usage('a data key is not shown on a terminal', 'add --reveal, or use --out')
  checkWritable(flags.out, flags)
}

export async function sign(wanted: string, { session, flags }: SignedIn<IoOptions>): Promise<Output> {
  const { opened } = await openKey(session, wanted)
  const key = opened.signingKey()
  const signature =
    key.spec === 'ecdsa-p256-sha256'
      ? await signHash(await hashOf(readPieces(flags.file)), key)
      : await opened.sign(await wholeMessage(flags.file))
  return { json: { signature }, text: () => writePieces(flags.out, [encodeUtf8(`${signature}\n`)], flags) }
}

export const checkSign = (flags: IoOptions): void => checkWritable(flags.out, flags)

async function signHash(digest: Bytes, key: Parameters<typeof formatSignature>[0] & object): Promise<string> {
  const { signDigest } = await import('@skerry/crypto/kms-digest')
  return formatSignature(key, await signDigest(digest, key as Parameters<typeof signDigest>[1]))
}

async function hashOf(pieces: AsyncIterable<Bytes>): Promise<Bytes> {
  const hash = createHash('sha256')
  for await (const piece of pieces) hash.update(piece)
  return new Uint8Array(hash.digest())
}

async function wholeMessage(path: string | undefined): Promise<Bytes> {
  const { start, isAll } = await peek(readPieces(path), wholeMessageMaxBytes)
  if (isAll) return start
  throw usage('an Ed25519 key can sign at most 64 MiB', 'sign a hash of the file, or use a key of ecdsa-p256-sha256')
}

/** Verifies a signature with the key that it names. A key on the command line must be the same one. */
export async function verify(
  _signaturePath: string,
  { session, flags, input: { keyId, version, signature } }: SignedIn<IoOptions & { key?: string }, typeof parseVerify>,
): Promise<Output> {
  const { spec, keys } = await publicKeysOf(session, flags.key ?? keyId)
  const found = keys.find((one) => one.version === version && one.keyId === keyId)
  const isValid = found !== undefined && (await isSignature())
  async function isSignature(): Promise<boolean> {
    const { publicKeyJwk } = found as { publicKeyJwk: string }
    if (spec !== 'ecdsa-p256-sha256')
      return verifyMessage(await wholeMessage(flags.file), signature, { spec, publicKeyJwk })
    const { verifyDigest } = await import('@skerry/crypto/kms-digest')
    return verifyDigest(await hashOf(readPieces(flags.file)), signature, parsePublicKeyJwk(publicKeyJwk))
  }
  if (!isValid) throw new Failure('refused', 'the signature is not valid for this message and this key')
  note(`valid: signed with version ${version} of ${keyId}`)
  return { json: { valid: true, keyId, version } }
}

export function parseVerify(_flags: IoOptions & { key?: string }, signaturePath: string) {
  const blob = readTextFile(signaturePath).trim()
  const { keyId, version, signature } = parseSignature(blob)
  return { keyId, version, signature }
}
