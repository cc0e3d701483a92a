import { randomBytes } from 'node:crypto'
import { idPrefixes } from '@skerry/contract/prefixes'
import type { Client } from '@skerry/sdk/client'
import { SkerryError, UnavailableError } from '@skerry/sdk/errors'
import type { Config } from './config/config.ts'
import { Refusal } from './refusal.ts'

/** The agent that sends a request, and its limits. */
export interface Session {
  /** The key of its ratchet state: the credential that was presented, or one fixed word for requests without any. */
  run: string
  /** The agent as the settings name it. Null if they name none. */
  agent: string | null
  /** The names that narrow the policy. Null if nothing does. */
  scopes: readonly string[] | null
}

interface Ticket {
  ticket: string
  agent: string | null
  expiresInSeconds: number
}

export interface Sessions {
  /**
   * Returns the session of a ticket. Without a ticket, it is that of the first agent in the settings, unless they
   * require a task. Listeners that are bound to a task accept no other one.
   */
  of(ticket: string | undefined): Session | Promise<Session>
  mint(wish: { agent?: string | undefined; scopes?: string[] | undefined; ttlSeconds?: number | undefined }): Ticket
  revoke(ticket: string): boolean
  /** The number of valid tickets. */
  count(): number
}

interface SessionDeps {
  config: Pick<Config, 'agents' | 'control' | 'tasks' | 'requireTask'>
  /** The token of the task to which all listeners are bound. */
  task?: string | undefined
  client: Pick<Client, 'tasks'>
  now: () => number
  warn: (message: string) => void
}

const taskNeeded =
  'the request needs a task or a ticket: send it as x-skerry-ticket, or start the program with `skerry proxy run --task`'

const noTicket = (message: string) => new Refusal(403, 'policy_unavailable', message)

export function openSessions(deps: SessionDeps): Sessions {
  const { config, now, task } = deps
  const { ttl = 3600, maxTtl = 12 * 3600 } = config.control ?? {}
  const tickets = new Map<string, Session & { endsAt: number }>()
  const tasks = openTasks(deps)
  const unticketed: Session = { run: '<default>', agent: config.agents[0] ?? null, scopes: null }
  const sweep = () => {
    for (const [ticket, { endsAt }] of tickets) if (endsAt <= now()) tickets.delete(ticket)
  }
  return {
    of(ticket) {
      if (task !== undefined && ticket !== undefined && ticket !== task)
        throw noTicket('this listener belongs to a task, and accepts no other task or ticket')
      if (task !== undefined) return tasks(task)
      if (ticket === undefined && config.requireTask) throw noTicket(taskNeeded)
      if (ticket === undefined) return unticketed
      if (ticket.startsWith(idPrefixes.taskRef)) return tasks(ticket)
      const found = tickets.get(ticket)
      if (!found || found.endsAt <= now()) throw noTicket('the ticket is unknown or expired')
      return found
    },
    mint({ agent = config.agents[0], scopes, ttlSeconds = ttl }) {
      if (agent !== undefined && !config.agents.includes(agent))
        throw new Refusal(400, 'bad_request', 'this proxy does not enforce the policy of that agent')
      sweep()
      const ticket = `skp_${randomBytes(32).toString('base64url')}`
      const lives = Math.min(ttlSeconds, maxTtl)
      const session = { run: ticket, agent: agent ?? null, scopes: scopes ?? null }
      tickets.set(ticket, { ...session, endsAt: now() + lives * 1000 })
      return { ticket, agent: session.agent, expiresInSeconds: lives }
    },
    revoke: (ticket) => tickets.delete(ticket),
    count() {
      sweep()
      return tickets.size
    },
  }
}

/** A refusal is cached for this time, so that an agent with an invalid token does not load the server. */
const failureMs = 5000
const keptMax = 10_000

interface Asked {
  session: Promise<Session>
  endsAt: number
}

/**
 * The server decides when a task ends. Its answer is cached for the cache time, and no older answer is used after that.
 */
function openTasks({ config, client, now, warn }: SessionDeps): (token: string) => Promise<Session> {
  const kept = new Map<string, Asked>()
  const introspect = async (token: string, asked: Asked): Promise<Session> => {
    try {
      const { session } = await client.tasks.introspect({ body: { token } })
      const agent = config.agents.find((one) => one === session.agent.slug || one === session.agent.id)
      if (agent === undefined) throw noTicket('the task belongs to an agent whose policy this proxy does not enforce')
      asked.endsAt = Math.min(now() + (config.tasks?.cacheTtl ?? 0) * 1000, Date.parse(session.expiresAt))
      return { run: token, agent, scopes: session.scopes }
    } catch (error) {
      asked.endsAt = now() + failureMs
      throw error instanceof Refusal ? error : refusalOf(error, warn)
    }
  }
  return (token) => {
    if (config.tasks === null) throw noTicket('this proxy accepts no tasks: its settings have no [tasks]')
    const known = kept.get(token)
    if (known && now() < known.endsAt) return known.session
    // The server is asked once, however many requests wait for the answer.
    const asked: Asked = { session: Promise.reject(), endsAt: Number.POSITIVE_INFINITY }
    asked.session.catch(() => {})
    asked.session = introspect(token, asked)
    asked.session.catch(() => {})
    if (kept.size >= keptMax) for (const [other, { endsAt }] of kept) if (endsAt <= now()) kept.delete(other)
    if (kept.size >= keptMax) kept.clear()
    kept.set(token, asked)
    return asked.session
  }
}

/** The server's error text is for the operator of the proxy. The agent learns only that its task does not work. */
function refusalOf(error: unknown, warn: (message: string) => void): Refusal {
  const said = error instanceof SkerryError ? error.message.slice(0, 200) : 'the task could not be checked'
  warn(`task: ${said}`)
  return error instanceof UnavailableError
    ? noTicket('the proxy could not ask the server about the task')
    : noTicket('the task is unknown or has ended')
}
