import { isNamed } from '@skerry/contract/prefixes'
import { leaseVendors } from '@skerry/contract/vendors'
import { Failure } from '../failure.ts'
import { formatValues } from '../formats.ts'
import { fields, options } from './fields.ts'
import { type Hands, handedOver, type Tool, told, tool } from './tool.ts'

interface Target {
  id: string
  name: string
  provider: string
}

const databases = [
  { word: 'pg', provider: 'postgres', label: leaseVendors.postgres.name },
  { word: 'mysql', provider: 'mysql', label: leaseVendors.mysql.name },
] as const satisfies readonly { word: string; provider: keyof typeof leaseVendors; label: string }[]

const targetsOf = async ({ json }: Hands, provider: string): Promise<Target[]> =>
  ((await json(['lease', 'target', 'list'])).data as { targets: Target[] }).targets.filter(
    (one) => one.provider === provider,
  )

async function targetOf(
  hands: Hands,
  wanted: string,
  { provider, label }: (typeof databases)[number],
): Promise<Target> {
  const found = (await targetsOf(hands, provider)).find((one) => isNamed(wanted, 'leaseTarget', one))
  if (found) return found
  throw new Failure('notFound', `there is no target ${wanted} of ${label}`)
}

export const leaseTools: Tool[] = databases.flatMap((database) => [
  tool({
    name: `create_${database.word}_lease`,
    description: `Make an account on a ${database.label} target that lives for minutes. How to sign in is shown once, as a .env file: into a file, or into the result with reveal.`,
    input: {
      target: fields.target,
      ttl: fields.ttl,
      name: fields.roleName,
      file: fields.file,
      reveal: fields.reveal,
    },
    does: 'write',
    run: async ({ target, file, reveal, ...wanted }, hands) =>
      handedOver({ file, reveal }, hands, async () => {
        await targetOf(hands, target, database)
        // Passes the name as it was given, because the command compares the settings with those that it remembers under
        // that name.
        const { data, notes } = await hands.json(['lease', 'create', target, ...options(wanted)])
        const { lease, variables } = data as { lease: object; variables: Record<string, string> }
        const { text } = formatValues(new Map(Object.entries(variables)), 'dotenv')
        return { secret: text, rest: { lease, variables: Object.keys(variables), notes } }
      }),
  }),
  tool({
    name: `revoke_${database.word}_lease`,
    description: `End a lease on a ${database.label} target: its account is removed. Its sessions end too, if the admin account of the target may end them.`,
    input: { lease: fields.lease },
    does: 'destroy',
    run: async ({ lease }, { json }) => told(await json(['lease', 'revoke', lease, '--yes'])),
  }),
  tool({
    name: `list_${database.word}_targets`,
    description: `The ${database.label} targets on which leases can be made.`,
    input: {},
    does: 'read',
    run: async (_, hands) => ({ targets: await targetsOf(hands, database.provider) }),
  }),
])
