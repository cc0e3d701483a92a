import { fingerprintWords } from '@skerry/crypto/fingerprint-words'
import { sealWithPassphrase } from '@skerry/crypto/keyring'
import { generateKeyPair } from '@skerry/crypto/keys'
import type { Command } from 'commander'
import { formatAge, parseDuration } from '../duration.ts'
import { Failure, toFailure } from '../failure.ts'
import { agentStatus, hasAgents, startAgent, stopAgent } from '../keyring/agent-client.ts'
import { changePassphrase, passkeys, replace, trust } from '../keyring/change.ts'
import { ownerOf } from '../keyring/owner.ts'
import { passphraseFromFile, readNewPassphrase, readPassphrase } from '../keyring/passphrase.ts'
import { readSealed } from '../keyring/sealed.ts'
import { askUntilOpen, keepOpened, openSealed, sealedKeys } from '../keyring/unlock.ts'
import { confirmable, leaf } from '../options.ts'
import { note, writeJson, writeLine } from '../output.ts'
import { canAsk } from '../prompt.ts'
import { openSession, ownPublicKey } from '../session.ts'
import type { Flags } from '../settings.ts'

export function register(command: Command): void {
  leaf(command, 'init', 'Make your keys and seal them under a passphrase; once').action(init)
  leaf(command, 'unlock', 'Keep your private key at hand, in a process of its own')
    .option('--for <duration>', 'locks by itself when unused for so long; never later than 12h', '15m')
    .action(unlock)
  leaf(command, 'lock', 'Forget the unlocked key').action(lock)
  leaf(command, 'status', 'Whether there are keys, and whether they are unlocked').action(status)
  leaf(command, 'passphrase', 'Seal your private key under another passphrase')
    .option('--new-file <path>', 'file that holds the new passphrase; asked for unless given')
    .action(changePassphrase)
  confirmable(leaf(command, 'replace', 'Make another keypair; everything that was granted to you must be granted anew'))
    .option('--new-file <path>', 'file that holds the new passphrase; asked for unless given')
    .action(replace)
  confirmable(leaf(command, 'trust', 'Take the keypair that you made on another machine for yours here, too')).action(
    trust,
  )
  leaf(command, 'passkeys', 'Passkeys that unlock your keyring, or sign you in').action(passkeys)
  leaf(command, 'fingerprint', 'Your public key, or that of the token in use, as words for others to compare').action(
    fingerprint,
  )
  command.addHelpText(
    'after',
    `
The passphrase comes from the file that SKERRY_PASSPHRASE_FILE names, from a hidden question, or from stdin. While no
agent runs, commands that decrypt ask for it themselves.`,
  )
}

async function init(flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const owner = ownerOf(session)
  const { publicKeyJwk: existing } = await owner.client.me.getKeys()
  if (existing !== null) throw haveKeys()
  if (readSealed(owner.url, owner.userId)) await sealedKeys(owner)
  const passphrase = await readNewPassphrase([session.principal.name])
  const { privateKey, publicKeyJwk } = await generateKeyPair()
  const encryptedPrivateKey = await sealWithPassphrase(privateKey, passphrase, owner.userId)
  const keys = { publicKeyJwk, encryptedPrivateKey }
  await owner.client.me.putKeys({ body: keys }).catch((error) => {
    throw toFailure(error).kind === 'conflict' ? haveKeys() : error
  })
  keepOpened(owner, keys)
  const words = await fingerprintWords(publicKeyJwk)
  note('made your keys; a person who grants you an environment can compare these words with what they see:')
  if (flags.json) writeJson({ userId: owner.userId, publicKeyJwk, fingerprint: words })
  else writeLine(words)
}

const haveKeys = () =>
  new Failure('conflict', 'you have keys already', 'open them with `skerry keys unlock`, or see `skerry keys replace`')

async function unlock(flags: Flags & { for: string }): Promise<void> {
  const idleSeconds = parseDuration(flags.for)
  if (!hasAgents) throw new Failure('failure', 'there is no agent on this system', 'commands ask for the passphrase')
  const owner = ownerOf(await openSession(flags))
  const sealed = await sealedKeys(owner)
  const asks = passphraseFromFile() === undefined && canAsk()
  const privateKey = asks
    ? await askUntilOpen(sealed, owner.userId, { extractable: true })
    : await openSealed(sealed, await readPassphrase(), owner.userId, { extractable: true })
  keepOpened(owner, sealed)
  await startAgent(owner.url, owner.userId, privateKey, idleSeconds)
  note(`unlocked; locks by itself when unused for ${formatAge(idleSeconds)}, or with \`skerry keys lock\``)
  if (flags.json) writeJson({ unlocked: true, idleSeconds })
}

async function lock(flags: Flags): Promise<void> {
  const owner = ownerOf(await openSession(flags))
  const wasOpen = await stopAgent(owner.url, owner.userId)
  note(wasOpen ? 'locked' : 'was not unlocked')
  if (flags.json) writeJson({ unlocked: false })
}

async function status(flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const owner = ownerOf(session)
  const [{ publicKeyJwk }, agent] = await Promise.all([owner.client.me.getKeys(), agentStatus(owner.url, owner.userId)])
  if (publicKeyJwk !== null) await sealedKeys(owner)
  const keys = publicKeyJwk === null ? 'none yet: run `skerry keys init`' : await fingerprintWords(publicKeyJwk)
  if (flags.json) {
    const locksInSeconds = agent?.locksInSeconds ?? null
    return writeJson({ user: session.principal.name, publicKeyJwk, unlocked: agent !== undefined, locksInSeconds })
  }
  writeLine(`${session.principal.name} at ${owner.url}`)
  writeLine(`keys: ${keys}`)
  writeLine(agent ? `unlocked for another ${formatAge(agent.locksInSeconds)}` : 'locked')
}

async function fingerprint(flags: Flags): Promise<void> {
  const session = await openSession(flags)
  // A token has a key without a keyring, and custodians compare its words before they give it their shares.
  const isToken = session.principal.type === 'service_token'
  const publicKeyJwk = isToken ? await ownPublicKey(session) : (await sealedKeys(ownerOf(session))).publicKeyJwk
  const words = await fingerprintWords(publicKeyJwk)
  if (flags.json) writeJson({ publicKeyJwk, fingerprint: words })
  else writeLine(words)
}
