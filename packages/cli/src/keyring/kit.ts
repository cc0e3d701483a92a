import type { Answer } from '@skerry/contract/endpoint'
import type { recoveryKit } from '@skerry/contract/me/recovery-kit'
import type { Client } from '@skerry/sdk/client'
import { makeRecoveryKit } from '@skerry/sdk/recovery-kit'
import { toFailure, usage } from '../failure.ts'
import type { SignedIn } from '../frame.ts'
import { isTerminal, note, type Output, writeLine } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Confirmable } from '../settings.ts'
import { askForFactor } from './factor.ts'
import { ownerOf } from './owner.ts'
import { type Owner, openAnew, sealedKeys } from './unlock.ts'

type Kit = Answer<typeof recoveryKit.get>['kit']

/** The kit of a person; null without one, and on a server that is too old for kits. */
export async function findKit(client: Client): Promise<Kit> {
  try {
    return (await client.recoveryKit.get()).kit
  } catch (error) {
    if ((error as { code?: unknown }).code === 'old_server') return null
    throw error
  }
}

type KitFlags = Confirmable & { remove?: true }

/** The code is a credential, so it goes to a terminal, or to a program that asks for JSON. */
export function checkKit(flags: KitFlags): void {
  if (!flags.remove && !flags.json && !isTerminal.stdout())
    throw usage('the code is shown on a terminal only', 'run this on a terminal, or add --json to pipe it')
}

export async function kit({ session, flags }: SignedIn<KitFlags>): Promise<Output> {
  const owner = ownerOf(session)
  if (flags.remove) {
    await confirmOrRefuse('removes your recovery kit, and its code no longer opens your keyring', flags)
    await removeKit(owner)
    return { json: { removed: true } }
  }
  const sealed = await sealedKeys(owner)
  if (await findKit(owner.client))
    await confirmOrRefuse(
      'replaces your recovery kit, and the code of the earlier one no longer opens your keyring',
      flags,
    )
  const privateKey = await openAnew(owner, sealed)
  const { publicKeyJwk } = sealed
  const whose = { userId: owner.userId, publicKeyJwk }
  const code = await makeRecoveryKit(owner.client, whose, privateKey).catch(askForFactor)
  note('the code of your recovery kit; it is shown only now:')
  return {
    json: { userId: owner.userId, publicKeyJwk, code },
    text: () => writeLine(code),
    after: () => {
      note('print it or write it down, and keep it where nobody else finds it: it opens your keyring')
      note('if you forget your passphrase, run `skerry keys passphrase` and enter the code instead')
    },
  }
}

/** Removes the kit. A kit that is already gone is no failure. */
export async function removeKit({ client }: Owner): Promise<void> {
  try {
    await client.recoveryKit.delete()
    note('removed your recovery kit; its code opens nothing any more')
  } catch (error) {
    if (toFailure(error).kind !== 'notFound') askForFactor(error)
    note('you have no recovery kit')
  }
}
