const levels = ['silent', 'error', 'warn', 'info', 'debug'] as const
export type Level = (typeof levels)[number]

type Fields = Record<string, unknown>

/** A log of JSON lines. Callers pass facts about a request, never its content. */
export interface Log {
  enabled(level: Level): boolean
  error(message: string, fields?: Fields): void
  warn(message: string, fields?: Fields): void
  info(message: string, fields?: Fields): void
  debug(message: string, fields?: Fields): void
}

export function openLog(level: Level, write: (line: string) => void): Log {
  const threshold = levels.indexOf(level)
  const enabled = (at: Level) => levels.indexOf(at) <= threshold
  const line = (at: Level) => (message: string, fields?: Fields) => {
    if (enabled(at)) write(`${JSON.stringify({ time: new Date().toISOString(), level: at, message, ...fields })}\n`)
  }
  return { enabled, error: line('error'), warn: line('warn'), info: line('info'), debug: line('debug') }
}
