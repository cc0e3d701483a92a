/** Classifies the errors of both engines, which carry PostgreSQL's SQLSTATE in `code`. */

interface SqlError extends Error {
  code: string
  constraint?: string
}

function isSqlError(error: unknown): error is SqlError {
  return error instanceof Error && typeof (error as Partial<SqlError>).code === 'string'
}

function hasState(error: unknown, state: string, constraint?: string): boolean {
  if (!isSqlError(error) || error.code !== state) return false
  return constraint === undefined || error.constraint === constraint
}

export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return hasState(error, '23505', constraint)
}

export function isForeignKeyViolation(error: unknown, constraint?: string): boolean {
  return hasState(error, '23503', constraint)
}

export function isUndefinedTable(error: unknown): boolean {
  return hasState(error, '42P01')
}

/** Wrong password, unknown role or no permission: waiting does not help. */
export function isAccessRefused(error: unknown): boolean {
  return isSqlError(error) && error.code.startsWith('28')
}

/** read_only_sql_transaction: the database server is a standby. It may have become one only now. */
export function isReadOnly(error: unknown): boolean {
  return hasState(error, '25006')
}

/** disk_full: nothing was written, and writes keep failing until somebody frees space. */
export function isDiskFull(error: unknown): boolean {
  return hasState(error, '53100')
}

/** query_canceled: the statement exceeded its timeout or was cancelled. */
export function isCanceled(error: unknown): boolean {
  return hasState(error, '57014')
}

/**
 * serialization_failure and deadlock_detected: nothing was written, and the same work may succeed when it runs again.
 */
export function isTransient(error: unknown): boolean {
  return hasState(error, '40001') || hasState(error, '40P01')
}

/**
 * A prepared statement is older than a change of its table (another server migrated). PostgreSQL refuses it before it
 * runs, and would always refuse it on that connection.
 */
export function isStalePlan(error: unknown): boolean {
  return hasState(error, '0A000') && (error as Error).message.includes('cached plan must not change result type')
}

/**
 * True if PostgreSQL itself refused, so nothing was written. After a lost connection nobody knows whether the commit
 * happened.
 */
export function isRolledBack(error: unknown): boolean {
  return isSqlError(error) && /^[0-9A-Z]{5}$/.test(error.code) && !isConnectionError(error)
}

const connectionStates = new Set(['57P01', '57P02', '57P03', '57P05', '53300'])
const socketCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT', // the socket file of a local server
])
/** The driver sets no code on these errors. */
const driverMessages =
  /^(Connection terminated|Query read timeout|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed)/

/** The database is unreachable, closed the connection, or has no free connection. The statement is not the cause. */
export function isConnectionError(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isConnectionError)
  if (!(error instanceof Error)) return false
  if (isSqlError(error)) {
    return error.code.startsWith('08') || connectionStates.has(error.code) || socketCodes.has(error.code)
  }
  return driverMessages.test(error.message)
}
