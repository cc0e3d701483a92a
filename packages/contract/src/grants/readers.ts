import type { Static } from 'typebox'
import type { PrincipalType, ReaderType } from '../schema.ts'

type Reader = Static<typeof ReaderType>
type Client = Static<typeof PrincipalType>

/**
 * Names for people of the server's own readers. A client made a grant to each. The server can read what a reader was
 * granted, so clients say this before they wrap a key to one.
 */
export const readerWords: Readonly<Record<Reader, string>> = {
  rotator: 'rotator of this server',
  sync_connection: 'sync connection of this server',
}

/**
 * Whether a holder of a key is part of the server.
 *
 * @example const readers = grantees.filter(isReader)
 */
export const isReader = <H extends { principalType: string }>(holder: H): holder is H & { principalType: Reader } =>
  Object.hasOwn(readerWords, holder.principalType)

/**
 * Whether a holder of a key decrypts where the server cannot: a person or a service token.
 *
 * @example const others = grantees.filter(isClient)
 */
export const isClient = <H extends { principalType: string }>(holder: H): holder is H & { principalType: Client } =>
  !isReader(holder)
