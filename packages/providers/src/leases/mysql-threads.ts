import type { RowDataPacket } from 'mysql2/promise'
import { ProviderError } from '../provider-error.ts'
import { verifierDigest } from './checks.ts'
import { MysqlFailure, noSuchThread, type Query } from './mysql-client.ts'

// Connections to the server, which MySQL calls threads, and the statements that run on them.

/** The length to which the text of a statement is cut. No statement of `createStatements` is longer. */
const statementChars = 16_384

/**
 * Selects the connections of a user, except this one. A statement is cut, because it may be very long. The name is
 * compared byte for byte, and is sent in hexadecimal because an admin's name may contain quotes.
 */
const threadsOf = (user: string) =>
  `SELECT ID AS thread, LEFT(INFO, ${statementChars}) AS statement FROM information_schema.processlist
   WHERE CAST(USER AS BINARY) = X'${Buffer.from(user).toString('hex')}' AND ID <> CONNECTION_ID()`

/** Whether a running statement creates a part of the lease, because it contains the verifier or the id. */
export const makesLease = (id: string, digest: string | null, statement: unknown): boolean =>
  String(statement ?? '').includes(id) ||
  (String(statement ?? '').match(/\*[0-9A-F]{40}/g) ?? []).some((verifier) => verifierDigest(verifier) === digest)

/** @param label the name of the threads in an error */
export async function endThreads(
  query: Query,
  label: string,
  user: string,
  isMeant: (thread: RowDataPacket) => boolean = () => true,
): Promise<void> {
  // A session that began before the lock may appear only now, and a killed session takes a moment to end.
  for (let attempt = 0; attempt < 50; attempt++) {
    const threads = (await query(threadsOf(user))).filter(isMeant)
    if (threads.length === 0) return
    for (const { thread } of threads)
      await query(`KILL CONNECTION ${Number(thread)}`).catch((error: unknown) => {
        if (!(error instanceof MysqlFailure && error.errno === noSuchThread)) throw error
      })
    await query('DO SLEEP(0.05)')
  }
  throw new ProviderError('failed', `${label} did not end`)
}
