import type { Answer } from '@skerry/contract/endpoint'
import type { me } from '@skerry/contract/me/endpoints'
import { fingerprintWords } from '@skerry/crypto/fingerprint-words'
import { sealWithPassphrase } from '@skerry/crypto/keyring'
import { generateKeyPair } from '@skerry/crypto/keys'
import type { SignedIn } from '../frame.ts'
import { noteNext } from '../next-step.ts'
import { note, type Output, warn, writeLine, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { shownTime } from '../times.ts'
import { stopAgent } from './agent-client.ts'
import { askForFactor } from './factor.ts'
import { findKit, removeKit } from './kit.ts'
import { ownerOf } from './owner.ts'
import { readAnotherPassphrase } from './passphrase.ts'
import { readSealed } from './sealed.ts'
import { keepOpened, keysToReseal, openAnew, passphraseOrCode, storedKeys } from './unlock.ts'

type Holding = Answer<typeof me.keyHoldings>['holdings'][number]
interface NewFile {
  newFile?: string
}

type PassphraseFlags = Flags & NewFile & { removeKit?: true }

export async function changePassphrase({ session, flags }: SignedIn<PassphraseFlags>): Promise<Output> {
  const owner = ownerOf(session)
  const sealed = await keysToReseal(owner)
  const hasKit = (await findKit(owner.client)) !== null
  const privateKey = await openAnew(owner, sealed, hasKit ? passphraseOrCode : undefined)
  const passphrase = await readAnotherPassphrase([session.principal.name], flags.newFile)
  const encryptedPrivateKey = await sealWithPassphrase(privateKey, passphrase, owner.userId)
  const { publicKeyJwk } = sealed
  await owner.client.me.patchKeys({ body: { encryptedPrivateKey, publicKeyJwk } }).catch(askForFactor)
  keepOpened(owner, { publicKeyJwk, encryptedPrivateKey })
  note('your keyring now opens with the new passphrase; your key and your access did not change')
  note('earlier copies of your sealed key, such as a printed one, still open with the old passphrase')
  if (flags.removeKit) await removeKit(owner)
  else if (hasKit) note('the code of your recovery kit still opens your keyring; `skerry keys kit --remove` ends that')
  return { json: { userId: owner.userId, publicKeyJwk } }
}

export async function replace({ session, flags }: SignedIn<Confirmable & NewFile>): Promise<Output> {
  const owner = ownerOf(session)
  const [{ holdings }, recoveryKit] = await Promise.all([owner.client.me.keyHoldings(), findKit(owner.client)])
  tellHoldings(holdings)
  if (recoveryKit)
    warn(
      `you have a recovery kit from ${shownTime(recoveryKit.createdAt)}: use it first with \`skerry keys passphrase\``,
    )
  const count = holdings.length === 1 ? '1 environment' : `${holdings.length} environments`
  await confirmOrRefuse(`replaces your key pair. You lose the keys of ${count}, and your personal overrides`, flags)
  const passphrase = await readAnotherPassphrase([session.principal.name], flags.newFile)
  const { privateKey, publicKeyJwk } = await generateKeyPair()
  const encryptedPrivateKey = await sealWithPassphrase(privateKey, passphrase, owner.userId)
  const keys = { publicKeyJwk, encryptedPrivateKey }
  const { lost } = await owner.client.me.replaceKeys({ body: keys }).catch(askForFactor)
  await stopAgent(owner.url, owner.userId)
  keepOpened(owner, keys)
  const words = await fingerprintWords(publicKeyJwk)
  note(
    'you have a new key pair, and admins were notified; a person who grants you access again must compare these words with what they see:',
  )
  return {
    json: { userId: owner.userId, publicKeyJwk, fingerprint: words, lost },
    text: () => writeLine(words),
    after: () => {
      note(
        'if nobody can grant you an environment, an admin can ask the recovery custodians: `skerry recovery request <you>`',
      )
      note('on your other machines, run `skerry keys trust`')
      note('make a new recovery kit with `skerry keys kit`; an earlier one opens nothing any more')
    },
  }
}

/** Lists the keys that the person loses, and who can grant them again. */
function tellHoldings(holdings: Holding[]): void {
  for (const { orgSlug, label, grantableBy } of holdings) {
    const who = grantableBy.map(({ name, principalId }) => name ?? principalId).join(', ')
    if (grantableBy.length > 0) note(`${orgSlug} ${label}: can be granted to you again by ${who}`)
    else warn(`${orgSlug} ${label}: no admin but you holds its key, so nobody can grant it to you again`)
  }
}

/** Accepts another key pair if the passphrase opens it, because a server cannot invent such a key pair. */
export async function trust({ session, flags }: SignedIn<Confirmable>): Promise<Output> {
  const owner = ownerOf(session)
  const known = readSealed(owner.url, owner.userId)
  const sealed = await storedKeys(owner)
  await openAnew(owner, sealed)
  const words = await fingerprintWords(sealed.publicKeyJwk)
  if (known?.publicKeyJwk !== sealed.publicKeyJwk) {
    if (known) note(`until now: ${await fingerprintWords(known.publicKeyJwk)}`)
    note(`from now on: ${words}`)
    await confirmOrRefuse('accepts this key pair as your own on this machine', flags)
    await stopAgent(owner.url, owner.userId)
  }
  keepOpened(owner, sealed)
  note('this machine now knows your key pair')
  if (!known) await noteNext(owner.client, owner.url)
  return { json: { userId: owner.userId, publicKeyJwk: sealed.publicKeyJwk, fingerprint: words } }
}

export async function passkeys({ session }: SignedIn): Promise<Output> {
  const { client } = ownerOf(session)
  const [keyring, signIn] = await Promise.all([client.passkeys.list(), client.signInPasskeys.list()])
  return {
    json: { passkeys: keyring.passkeys, signInPasskeys: signIn.passkeys },
    text: () => {
      const rows = (list: { label: string; createdAt: string; id: string }[], does: string) =>
        list.map(({ label, createdAt, id }) => [label, does, shownTime(createdAt), id])
      writeTable(
        ['label', 'does', 'made', 'id'],
        [...rows(keyring.passkeys, 'unlocks the keyring'), ...rows(signIn.passkeys, 'signs in')],
      )
    },
  }
}
