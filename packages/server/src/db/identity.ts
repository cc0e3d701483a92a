/**
 * Tells one database from another: the start of the PostgreSQL server, whether it is a standby, and the database's oid and
 * name. The system identifier and the timeline of a server change only when it starts again or is promoted, so they need no
 * columns of their own; and a restart counts too, because it may have lost commits where synchronous_commit is off.
 */
export const identityColumn = `(
  select concat_ws(' ', extract(epoch from pg_postmaster_start_time()), pg_is_in_recovery(), oid, datname)
    from pg_database where datname = current_database()) as identity`

/** The database behind the address, as its answers identify it. */
export interface Identity {
  /** Notes an answer's identity. If it differs from the one before, the database was exchanged. */
  note(identity: string): void
  /** The database is an earlier state of itself, which its identity does not show. */
  noteExchange(): void
  /** Counts exchanges. What was learned in an earlier generation says nothing about the database of now. */
  generation(): number
  /** The listener runs within the call that notes the exchange, before anyone uses the other database. */
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
