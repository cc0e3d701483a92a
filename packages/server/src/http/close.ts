import type { FastifyInstance } from 'fastify'

/** Supervisors wait some ten seconds before they kill. */
const deadlineMs = 8000
const lookMs = 25

/**
 * Takes no more connections, finishes what is under way, and gives up on what does not come to an end. A connection is idle
 * only once its request has been answered, and its client would keep it open.
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
