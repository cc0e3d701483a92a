import { describe, redactForLog } from './kernel/errors.ts'
import type { Log } from './kernel/log.ts'

/**
 * Sends all output of Node and of libraries to the log, so that each line of the output is JSON: warnings, calls of
 * console, and uncaught errors, which end the process.
 *
 * @param early warnings from before the log was open
 */
export function logProcess(log: Log, early: readonly Error[]): void {
  const warn = (warning: Error) => logWarning(log, warning)
  // Node's own listener prints plain text.
  process.removeAllListeners('warning')
  process.on('warning', warn)
  for (const warning of early) warn(warning)
  // The text may contain secrets, so only its origin is logged.
  for (const method of ['debug', 'dir', 'error', 'info', 'log', 'trace', 'warn'] as const)
    console[method] = () => log.warn('a library wrote to the console', { method, stack: describe(new Error()).stack })
  const end = (message: string) => (error: unknown) => {
    log.error(message, describe(error))
    process.exit(1)
  }
  process.on('uncaughtException', end('an error that nobody caught ends the server'))
  process.on('unhandledRejection', end('a rejection that nobody handled ends the server'))
}

/** Leaves out ExperimentalWarnings, because an operator can do nothing about them. */
function logWarning(log: Log, { name, message, code }: Error & { code?: unknown }): void {
  if (name !== 'ExperimentalWarning') log.warn('Node warns', { warning: name, code, text: redactForLog(message, []) })
}
