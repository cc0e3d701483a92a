/**
 * Identifies the database by the start time of the PostgreSQL server, whether it is a standby, and the oid and name of
 * the database. The system identifier and the timeline change only at a restart or a promotion, so they need no
 * columns. A restart counts as another identity, because it may have lost commits where synchronous_commit is off.
 */
export const identityColumn = `(
  select concat_ws(' ', extract(epoch from pg_postmaster_start_time()), pg_is_in_recovery(), oid, datname)
    from pg_database where datname = current_database()) as identity`

/** Tracks which database is behind the address, by the identity in its answers. */
export interface Identity {
  /** Records the identity in an answer. If it differs from the previous one, the database was exchanged. */
  note(identity: string): void
  /** Records an exchange that the identity does not show: the database was reset to an earlier state. */
  noteExchange(): void
  /** The number of exchanges. Knowledge from an earlier generation says nothing about the current database. */
  generation(): number
  /**
   * Adds a listener. It runs within the call that records the exchange, before any other code uses the new database.
   */
  onExchange(listener: () => void): void
}

export function openIdentity(): Identity {
  const listeners: (() => void)[] = []
  let known: string | undefined
  let generation = 0
  const noteExchange = () => {
    generation++
    for (const listener of listeners) listener()
  }
  return {
    note(identity) {
      const before = known
      known = identity
      if (before !== undefined && before !== identity) noteExchange()
    },
    noteExchange,
    generation: () => generation,
    onExchange: (listener) => void listeners.push(listener),
  }
}
