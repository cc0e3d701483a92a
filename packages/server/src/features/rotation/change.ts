import { type AccountKind, passwordLengthDefault, type RotationConfig } from '@skerry/contract/rotation/kinds'
import { generatePassword } from '@skerry/providers/rotation/generated'
import { instant } from '../../kernel/context.ts'
import { fail, Refusal } from '../../kernel/errors.ts'
import { changedNothing, isUncertain } from '../leases/session.ts'
import { type Accounts, configOf, isOfAccount, openAccounts } from './account.ts'
import { finish, lost } from './finish.ts'
import type { RotationResult, Run } from './one-run.ts'
import { openRotatorKey, type RotatorKey } from './rotator-key.ts'
import { deletePending, findPending, insertPending } from './run-store.ts'
import type { Rotation } from './scope.ts'

type Config = RotationConfig<AccountKind>

// A crash at any point loses no password. The new password is first stored encrypted, then set on the target, then
// tried, and only then made the current version. Until then the old password is current, and it is set again on the
// target if the new one fails.

/** A new value that is not yet the current one. */
interface Candidate {
  value: string
  username: string
}

export async function rotateAccount(run: Run, rotatorKey: RotatorKey, config: Config): Promise<RotationResult> {
  const { context, rotation, claimedBy } = run
  const { secretName } = rotation
  const accounts = await openAccounts(context, { ...rotation, config })
  const username = nextUsername(config, rotatorKey)
  const candidate = { username, value: generatePassword(config.passwordLength ?? passwordLengthDefault) }
  const pending = { username, ciphertext: await rotatorKey.key.seal(secretName, candidate.value) }
  if (!(await insertPending(context.db, rotation, claimedBy, pending, instant(context)))) throw fail('conflict', lost)
  try {
    await accounts.change(username, candidate.value, rotatorKey.valueOf(secretName) ?? null)
    if (!(await accounts.signsIn(username, candidate.value)))
      throw fail('conflict', `target: ${username} does not sign in with its new password; the old one was set again`)
  } catch (error) {
    const done = await afterFailure(run, rotatorKey, accounts, candidate, error)
    if (done) return done
    throw error
  }
  return finishOrGoBack(run, rotatorKey, accounts, candidate)
}

/** Picks the account to change. If two accounts alternate, it is the one that the application does not use. */
function nextUsername(config: Config, rotatorKey: RotatorKey): string {
  const { username } = config
  if (!('alternateUsername' in config) || config.alternateUsername === undefined) return username
  const inUse = rotatorKey.valueOf(config.usernameSecret as string) ?? username
  return inUse === config.alternateUsername ? username : config.alternateUsername
}

/**
 * Finishes or undoes an interrupted rotation, if there is one. Returns undefined if there was none, or if it was
 * undone: then the account has the password of the current version.
 */
export async function resolveInterrupted(run: Run): Promise<RotationResult | undefined> {
  const { context, rotation } = run
  const config = configOf(rotation)
  const pending = await findPending(context.db, rotation)
  if (!pending || !isOfAccount(config)) return undefined
  const rotatorKey = await openRotatorKey(context, rotation)
  const accounts = await openAccounts(context, { ...rotation, config })
  const { username } = pending
  // If the environment was re-keyed since, the pending password cannot be decrypted any more.
  const value = await rotatorKey.key.open(rotation.secretName, pending.ciphertext).catch(() => undefined)
  if (value !== undefined && (await accounts.signsIn(username, value)))
    return finishOrGoBack(run, rotatorKey, accounts, { username, value })
  await goBack(run, rotatorKey, accounts, username)
  return undefined
}

async function afterFailure(
  run: Run,
  rotatorKey: RotatorKey,
  accounts: Accounts,
  candidate: Candidate,
  error: unknown,
) {
  const { context, rotation, claimedBy } = run
  if (!(error instanceof Refusal)) return undefined
  if (changedNothing(error)) {
    await deletePending(context.db, rotation, claimedBy)
    return undefined
  }
  // If this fails too, the next run resolves the rotation.
  try {
    if (!isUncertain(error)) await goBack(run, rotatorKey, accounts, candidate.username)
    // If the outcome is uncertain, the statement may still arrive, so nothing is undone.
    else if (await accounts.signsIn(candidate.username, candidate.value))
      return await finish(run, rotatorKey, candidate)
  } catch (second) {
    if (!(second instanceof Refusal)) throw second
  }
  return undefined
}

async function finishOrGoBack(
  run: Run,
  rotatorKey: RotatorKey,
  accounts: Accounts,
  candidate: Candidate,
): Promise<RotationResult> {
  try {
    return await finish(run, rotatorKey, candidate)
  } catch (error) {
    if (error instanceof Refusal) await goBack(run, rotatorKey, accounts, candidate.username).catch(() => {})
    throw error
  }
}

/** Makes the account accept the password of the current version, if that password is known. */
async function goBack(
  { context, rotation, claimedBy }: Run,
  rotatorKey: RotatorKey,
  accounts: Accounts,
  username: string,
) {
  const old = passwordOf(rotation, rotatorKey, username)
  if (old !== undefined && !(await accounts.signsIn(username, old))) await accounts.change(username, old, old)
  await deletePending(context.db, rotation, claimedBy)
}

/** Returns the password that the application uses for this account. If two accounts alternate, only one has it. */
function passwordOf(rotation: Rotation, rotatorKey: RotatorKey, username: string): string | undefined {
  const config = configOf(rotation)
  const inUse = 'usernameSecret' in config && config.usernameSecret !== undefined
  if (inUse && rotatorKey.valueOf(config.usernameSecret as string) !== username) return undefined
  return rotatorKey.valueOf(rotation.secretName)
}
