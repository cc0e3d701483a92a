import type { Answer } from '@skerry/contract/endpoint'
import type { vaultExecutor } from '@skerry/contract/vault/executor'
import { type VaultPlace, type VaultSlot, vaultSlots } from '@skerry/contract/vault/facts'
import { openCredential, type SealedCredential, sealCredential } from '@skerry/crypto/vault'
import type { Client } from '@skerry/sdk/client'
import { RefusedError, SkerryError } from '@skerry/sdk/errors'
import { fail } from './http/refusal.ts'
import type { Keys } from './keys/keys.ts'

/** A decrypted credential with its place. It exists for one request, and is never stored. */
export interface Opened extends VaultPlace {
  text: string
}

/** A credential in the form that the server stores. */
export interface Sealed extends SealedCredential {
  keyThumbprint: string
}

export interface Connection {
  id: string
  userRef: string
  providerId: string
}

type VaultConnection = Answer<typeof vaultExecutor.connection>['connection']

export interface Credentials {
  /** @throws VaultRefusal `user_mismatch` for a connection of another person. */
  connectionOf(connectionId: string, userRef: string): Promise<Connection>
  /**
   * The connection as the server has it now. @throws VaultRefusal `user_mismatch`, `connection_revoked`,
   * `reauth_required`.
   */
  usable(connectionId: string, userRef: string): Promise<VaultConnection>
  /**
   * Opens the current revision. If its key is lost, this reports it, and the connection becomes `reauth_required`.
   *
   * @throws VaultRefusal `connection_revoked`, `reauth_required`, `not_found`.
   */
  open(connectionId: string, slot: VaultSlot): Promise<Opened>
  openSealed(sealed: Sealed, place: VaultPlace): Promise<string>
  /** Encrypts for the current key. */
  seal(text: string, place: VaultPlace): Promise<Sealed>
  /** @throws RefusedError `conflict` if the revision does not follow the current one. */
  write(place: VaultPlace, sealed: Sealed): Promise<void>
}

interface CredentialDeps {
  server: Client['vaultExecutor']
  keys: () => Promise<Keys>
  warn: (message: string) => void
}

/** The most connections that are cached with their person. The person of a connection never changes. */
const rememberedMax = 10_000

export function openCredentials(deps: CredentialDeps): Credentials {
  const { server, keys } = deps
  const remembered = new Map<string, Connection>()
  const openSealed = async (sealed: Sealed, place: VaultPlace) => {
    const key = (await keys()).find(({ thumbprint }) => thumbprint === sealed.keyThumbprint)
    if (!key) throw fail('unavailable', 'the credential is encrypted for a key that this executor does not have')
    return openCredential(sealed, place, key.privateKey)
  }
  const seal = async (text: string, place: VaultPlace) => {
    const [{ publicKeyJwk, thumbprint }] = await keys()
    return { ...(await sealCredential(text, place, publicKeyJwk)), keyThumbprint: thumbprint }
  }
  const write = async (place: VaultPlace, sealed: Sealed) => {
    const params = { vaultConnectionId: place.connectionId, slot: place.slot }
    await server.writeBack({ params, body: { expectedRevision: place.revision - 1, ...sealed } })
  }
  const find = async (connectionId: string): Promise<Connection> => {
    const known = remembered.get(connectionId)
    if (known) return known
    const { connection } = await server.connection({ params: { vaultConnectionId: connectionId } })
    const { id, userRef, providerId } = connection
    if (remembered.size >= rememberedMax) remembered.delete(remembered.keys().next().value!)
    remembered.set(id, { id, userRef, providerId })
    return connection
  }
  const checkUser = <C extends Connection>(connection: C, userRef: string): C => {
    if (connection.userRef !== userRef) throw fail('user_mismatch', 'the connection belongs to another user')
    return connection
  }
  return {
    connectionOf: async (connectionId, userRef) => checkUser(await find(connectionId), userRef),
    async usable(connectionId, userRef) {
      const { connection } = await server.connection({ params: { vaultConnectionId: connectionId } })
      const refused = refusalOfStatus(checkUser(connection, userRef))
      if (refused) throw refused
      return connection
    },
    async open(connectionId, slot) {
      const params = { vaultConnectionId: connectionId, slot }
      const { credential } = await server.release({ params }).catch(async (error) => {
        throw (await explain(deps, connectionId, slot, error)) ?? error
      })
      if (!(await hasKey(deps, credential.keyThumbprint))) throw await reportLost(deps, connectionId)
      const opened = { ...credential, text: await openSealed(credential, credential) }
      const [current] = await keys()
      // The executor writes other slots back anyway and rewraps them then. That write must find the revision that was
      // read.
      if (vaultSlots[slot] === 'browser' && credential.keyThumbprint !== current.thumbprint) await rewrap(opened)
      return opened
    },
    openSealed,
    seal,
    write,
  }

  /**
   * After a key rotation, a credential moves to the new key when it is used. Somebody who wrote meanwhile did the same.
   */
  async function rewrap(opened: Opened): Promise<void> {
    const next = { ...opened, revision: opened.revision + 1 }
    try {
      await write(next, await seal(opened.text, next))
      opened.revision = next.revision
    } catch (error) {
      // The next use tries again.
      if (!(error instanceof SkerryError)) throw error
    }
  }
}

async function hasKey({ keys }: CredentialDeps, thumbprint: string): Promise<boolean> {
  return (await keys()).some((key) => key.thumbprint === thumbprint)
}

/** The server refuses a release with 403 for several reasons. The connection shows which one it was. */
async function explain(deps: CredentialDeps, connectionId: string, slot: VaultSlot, error: unknown) {
  if (!(error instanceof RefusedError) || error.code !== 'forbidden') return undefined
  const found = await deps.server.connection({ params: { vaultConnectionId: connectionId } })
  const wrapped = found.keys.find((one) => one.slot === slot)
  const isLost = wrapped !== undefined && !(await hasKey(deps, wrapped.keyThumbprint))
  return refusalOfStatus(found.connection) ?? (isLost ? reportLost(deps, connectionId) : undefined)
}

/** Without the key, nobody can open the credential. Only the person can provide it again. */
async function reportLost({ server, warn }: CredentialDeps, connectionId: string) {
  warn(`${connectionId}: the credential is encrypted for a key that is not in keys.json; the person must connect again`)
  const params = { vaultConnectionId: connectionId }
  const body = { status: 'reauth_required', reason: 'reauth_requested' } as const
  await server.setStatus({ params, body }).catch((error) => {
    // Somebody else has already reported it, or the connection was revoked.
    if (!(error instanceof RefusedError)) throw error
  })
  return fail(
    'reauth_required',
    'the person must connect again: reauth_requested (the executor no longer has the key of the credential)',
  )
}

function refusalOfStatus(connection: Pick<VaultConnection, 'status' | 'statusReason'>) {
  if (connection.status === 'revoked') return fail('connection_revoked', 'the connection was revoked')
  if (connection.status === 'reauth_required')
    return fail('reauth_required', `the person must connect again: ${connection.statusReason}`)
  return undefined
}
