import { existsSync, rmSync } from 'node:fs'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'
import { describe, Failure, toFailure, usage } from '../failure.ts'
import { writeNamed } from '../files.ts'
import { checkBelowProject } from './below-project.ts'
import { type CommandLine, commandLine, type Said } from './command-line.ts'

/** The options of the person who started `skerry mcp`. */
interface Host {
  /** --url, --org and --profile, for every command. */
  shared: readonly string[]
  allowReveal: boolean
}

/** The functions that a tool uses. */
export interface Hands extends CommandLine {
  /** @throws Failure unless secrets may be shown. */
  checkReveal: (reveal: boolean | undefined) => void
}

type Shape = Record<string, z.ZodType>

interface Definition<S extends Shape> {
  name: string
  description: string
  input: S
  /** The effect of the tool: none, one that can be undone, or one that cannot be undone. */
  does: 'read' | 'write' | 'destroy'
  run: (input: z.infer<z.ZodObject<S>>, hands: Hands) => Promise<unknown>
}

/** A tool that can register itself at a server. */
export interface Tool {
  name: string
  offer: (server: McpServer, host: Host) => void
}

export function tool<S extends Shape>({ name, description, input, does, run }: Definition<S>): Tool {
  const annotations = { readOnlyHint: does === 'read', destructiveHint: does === 'destroy', openWorldHint: false }
  const schema = z.strictObject(input)
  const offer = (server: McpServer, host: Host) => {
    server.registerTool(name, { description, inputSchema: schema, annotations }, async (given: unknown, { signal }) => {
      try {
        return textResult(await run(schema.parse(given), hands(host, signal)))
      } catch (error) {
        return { ...textResult({ error: describe(toFailure(error)) }), isError: true }
      }
    })
  }
  return { name, offer }
}

const textResult = (value: unknown) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(value, null, 2) }],
})

function hands({ shared, allowReveal }: Host, signal: AbortSignal): Hands {
  return {
    ...commandLine(shared, signal),
    checkReveal: (reveal) => {
      if (!reveal || allowReveal) return
      throw new Failure(
        'refused',
        'this server shows no secrets',
        'the person who started `skerry mcp` can allow it with --allow-reveal',
      )
    },
  }
}

/** Turns the output of a command into a tool result, with the messages as `notes`. */
export const told = ({ data, notes }: Said) => ({ ...(data as object), ...(notes.length > 0 ? { notes } : {}) })

/** Creates the file empty before any work is done, so that an unwritable path is refused first. */
function reserveFile(file: string): void {
  checkBelowProject(file)
  if (existsSync(file))
    throw new Failure('conflict', `${file} already exists, so nothing was written`, 'name a new file')
  writeNamed(file, '', {})
}

interface Wanted {
  reveal?: boolean | undefined
  file?: string | undefined
}

/**
 * Creates something with a secret that is shown once. The secret goes into a file, or into the result if the caller
 * asks for that and it is allowed. Both are checked before anything is created.
 */
export async function handedOver<T>(
  { reveal, file }: Wanted,
  hands: Hands,
  make: () => Promise<{ secret: string; rest: T }>,
): Promise<T & ({ file: string } | { secret: string })> {
  hands.checkReveal(reveal)
  if ((file === undefined) === !reveal)
    throw usage('the destination of the secret is missing', 'name a file or set reveal, not both')
  if (file !== undefined) {
    reserveFile(file)
  }
  const { secret, rest } = await make().catch((error) => {
    if (file !== undefined) rmSync(file, { force: true })
    throw error
  })
  if (file === undefined) return { ...rest, secret }
  writeNamed(file, secret, { force: true })
  return { ...rest, file }
}
