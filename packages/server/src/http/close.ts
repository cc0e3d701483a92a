import type { FastifyInstance } from 'fastify'

/** Supervisors wait about ten seconds before they kill a process. */
const deadlineMs = 8000
const lookMs = 25

/**
 * Stops accepting connections, finishes running requests, and aborts those that do not end in time. Idle connections
 * are closed again and again, because a connection becomes idle after its answer, and its client would keep it open.
 */
export async function closeWhenIdle(app: FastifyInstance, giveUpMs = deadlineMs): Promise<void> {
  const looking = setInterval(() => app.server.closeIdleConnections(), lookMs)
  const deadline = setTimeout(() => app.server.closeAllConnections(), giveUpMs)
  try {
    await app.close()
  } finally {
    clearInterval(looking)
    clearTimeout(deadline)
  }
}
