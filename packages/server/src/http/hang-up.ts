import type { IncomingMessage } from 'node:http'

/** Aborts when the caller closes the connection before `done` is called. */
export interface HangUp {
  signal: AbortSignal
  done: () => void
}

export function watchHangUp({ socket }: IncomingMessage): HangUp {
  const controller = new AbortController()
  const abort = () => controller.abort()
  if (socket.destroyed) abort()
  socket.once('close', abort)
  return { signal: controller.signal, done: () => socket.off('close', abort) }
}
