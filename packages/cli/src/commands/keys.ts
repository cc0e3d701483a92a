import { fingerprintWords } from '@skerry/crypto/fingerprint-words'
import { sealWithPassphrase } from '@skerry/crypto/keyring'
import { generateKeyPair } from '@skerry/crypto/keys'
import type { Command } from 'commander'
import { formatAge, parseDuration } from '../duration.ts'
import { Failure, toFailure } from '../failure.ts'
import { type SignedIn, signedIn } from '../frame.ts'
import { agentStatus, hasAgents, startAgent, stopAgent } from '../keyring/agent-client.ts'
import { changePassphrase, passkeys, replace, trust } from '../keyring/change.ts'
import { checkKit, findKit, kit } from '../keyring/kit.ts'
import { ownerOf } from '../keyring/owner.ts'
import { passphraseFromFile, readNewPassphrase, readPassphrase } from '../keyring/passphrase.ts'
import { readSealed } from '../keyring/sealed.ts'
import { askUntilOpen, keepOpened, openSealed, sealedKeys } from '../keyring/unlock.ts'
import { noteNext } from '../next-step.ts'
import { confirmable, explained, leaf } from '../options.ts'
import { note, type Output, warn, writeLine } from '../output.ts'
import { canAsk } from '../prompt.ts'
import { ownPublicKey } from '../session.ts'
import type { Flags } from '../settings.ts'
import { shownTime } from '../times.ts'

export function register(command: Command): void {
  explained(
    command,
    'The passphrase is read from the file in SKERRY_PASSPHRASE_FILE, from a hidden prompt, or from stdin. A command that decrypts asks for it while the keyring is locked. The code of your recovery kit opens the keyring wherever the passphrase does.',
  )
  leaf(command, 'status', 'Show whether you have keys, and whether they are unlocked')
    .alias('show')
    .action(signedIn(status))
  leaf(command, 'init', 'Create your keys and encrypt them with a passphrase').action(signedIn(init))
  leaf(command, 'unlock', 'Keep your private key in memory, so that commands do not ask for the passphrase')
    .option('--for <duration>', 'lock after this time without use; never later than 12h', '15m')
    .action(signedIn(unlock, parseUnlock))
  leaf(command, 'lock', 'Remove your private key from memory').action(signedIn(lock))
  leaf(command, 'fingerprint', 'Print your public key as words, for others to compare').action(signedIn(fingerprint))
  leaf(command, 'passkeys', 'List passkeys that unlock your keyring or sign you in').action(signedIn(passkeys))
  leaf(command, 'passphrase', 'Change your passphrase')
    .option('--new-file <path>', 'file with the new passphrase (default: ask)')
    .option('--remove-kit', 'also remove your recovery kit')
    .action(signedIn(changePassphrase))
  confirmable(leaf(command, 'kit', 'Make a recovery kit: a printed code that opens your keyring'))
    .option('--remove', 'remove your recovery kit, and make no new one')
    .action(signedIn(kit, checkKit))
  confirmable(leaf(command, 'replace', 'Replace your key pair; you lose access until somebody grants it again'))
    .option('--new-file <path>', 'file with the new passphrase (default: ask)')
    .action(signedIn(replace))
  confirmable(leaf(command, 'trust', 'Accept the key pair that you created on another machine')).action(signedIn(trust))
}

async function init({ session }: SignedIn): Promise<Output> {
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
  return {
    json: { userId: owner.userId, publicKeyJwk, fingerprint: words },
    text: () => writeLine(words),
    after: async () => {
      warn(
        'nobody can reset your passphrase: if you lose it, the secrets that only you can read are lost for good, unless you have a recovery kit',
      )
      note('make the kit now: `skerry keys kit`, or the account page of the dashboard')
      await noteNext(owner.client, owner.url)
    },
  }
}

const haveKeys = () => new Failure('conflict', 'you have keys already', 'open them here with `skerry keys unlock`')

async function unlock({
  session,
  input: { idleSeconds },
}: SignedIn<Flags & { for: string }, typeof parseUnlock>): Promise<Output> {
  const owner = ownerOf(session)
  const sealed = await sealedKeys(owner)
  const isNewHere = readSealed(owner.url, owner.userId) === undefined
  const asks = passphraseFromFile() === undefined && canAsk()
  const privateKey = asks
    ? await askUntilOpen(owner, sealed, { extractable: true })
    : await openSealed(owner, sealed, await readPassphrase(), { extractable: true })
  keepOpened(owner, sealed)
  await startAgent(owner.url, owner.userId, privateKey, idleSeconds)
  note(`unlocked; locks by itself when unused for ${formatAge(idleSeconds)}, or with \`skerry keys lock\``)
  if (isNewHere) await noteNext(owner.client, owner.url)
  return { json: { unlocked: true, idleSeconds } }
}

function parseUnlock(flags: Flags & { for: string }) {
  const idleSeconds = parseDuration(flags.for, '--for')
  if (!hasAgents) throw new Failure('failure', 'there is no agent on this system', 'commands ask for the passphrase')
  return { idleSeconds }
}

async function lock({ session }: SignedIn): Promise<Output> {
  const owner = ownerOf(session)
  const wasOpen = await stopAgent(owner.url, owner.userId)
  note(wasOpen ? 'locked' : 'was not unlocked')
  return { json: { unlocked: false } }
}

async function status({ session }: SignedIn): Promise<Output> {
  const owner = ownerOf(session)
  const [{ publicKeyJwk }, recoveryKit, agent] = await Promise.all([
    owner.client.me.getKeys(),
    findKit(owner.client),
    agentStatus(owner.url, owner.userId),
  ])
  if (publicKeyJwk !== null) await sealedKeys(owner)
  const keys = publicKeyJwk === null ? 'none yet: run `skerry keys init`' : await fingerprintWords(publicKeyJwk)
  const user = session.principal.name
  const locksInSeconds = agent?.locksInSeconds ?? null
  return {
    json: {
      user,
      publicKeyJwk,
      unlocked: agent !== undefined,
      locksInSeconds,
      recoveryKitCreatedAt: recoveryKit?.createdAt ?? null,
    },
    text: () => {
      writeLine(`${user} at ${owner.url}`)
      writeLine(`keys: ${keys}`)
      if (publicKeyJwk === null) return
      writeLine(
        `recovery kit: ${recoveryKit ? `made ${shownTime(recoveryKit.createdAt)}` : 'none; make one with `skerry keys kit`'}`,
      )
      writeLine(agent ? `unlocked for another ${formatAge(agent.locksInSeconds)}` : 'locked')
    },
  }
}

async function fingerprint({ session }: SignedIn): Promise<Output> {
  // A token has a key without a keyring, and custodians compare its words before they give it their shares.
  const isToken = session.principal.type === 'service_token'
  const publicKeyJwk = isToken ? await ownPublicKey(session) : (await sealedKeys(ownerOf(session))).publicKeyJwk
  const words = await fingerprintWords(publicKeyJwk)
  return { json: { publicKeyJwk, fingerprint: words }, text: () => writeLine(words) }
}
