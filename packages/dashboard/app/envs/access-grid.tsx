import { isReader, readerWords } from '@skerry/contract/grants/readers'
import { useQueries } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { granteesQuery } from '../secrets/queries.ts'
import type { EnvironmentWithAccess } from '../secrets/use-columns.ts'
import { useNameOf } from '../secrets/use-name-of.ts'
import { EnvName } from '../ui/env-name.tsx'
import { IconCheck } from '../ui/icons.ts'
import { AnchorLink } from '../ui/links.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import type { Grantee } from './grantees.ts'

/** A person, token or part of the server, with the environments that it can read. */
interface Holder {
  id: string
  name: string
  kind: string
  environmentIds: ReadonlySet<string>
}

/** Holders of keys by environments. A link in the head leads to the page on which access is given and taken. */
export function AccessGrid({ environments }: { environments: EnvironmentWithAccess[] }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const nameOf = useNameOf(org.id)
  const answers = useQueries({ queries: environments.map(({ id }) => granteesQuery(org.id, id)) })
  const failed = answers.find(({ error }) => error)
  const holders = holdersOf(
    environments.map(({ id }, i) => ({ id, grantees: answers[i]?.data?.grantees ?? [] })),
    nameOf,
  )
  return (
    <>
      <ProblemAlert error={failed?.error} retry={() => void failed?.refetch()} />
      <div className="list grid-of-access">
        <table aria-label="Who can read which environment">
          <thead>
            <tr>
              <th scope="col">Holder</th>
              {environments.map(({ id, name, slug }) => (
                <th scope="col" key={id}>
                  <AnchorLink to="/orgs/$org/envs/$env" params={{ org: org.slug, env: id }}>
                    <EnvName name={name} slug={slug} />
                  </AnchorLink>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {holders.map(({ id, name, kind, environmentIds }) => (
              <tr key={id}>
                <th scope="row">
                  {name} <span className="help">{kind}</span>
                </th>
                {environments.map((environment) => (
                  <td key={environment.id}>
                    {environmentIds.has(environment.id) && (
                      <span className="held" role="img" aria-label="can read it">
                        <IconCheck size={12} strokeWidth={1.8} />
                      </span>
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

const kinds: Record<Grantee['principalType'], string> = { user: '', service_token: 'token', ...readerWords }

function holdersOf(given: { id: string; grantees: Grantee[] }[], nameOf: (id: string) => string): Holder[] {
  const found = new Map<string, Grantee & { in: Set<string> }>()
  for (const { id, grantees } of given)
    for (const one of grantees) {
      const known = found.get(one.principalId) ?? { ...one, in: new Set<string>() }
      known.in.add(id)
      found.set(one.principalId, known)
    }
  const holders = [...found.values()].map((one) => ({
    id: one.principalId,
    name: one.name ?? (isReader(one) ? 'This server' : nameOf(one.principalId)),
    kind: kinds[one.principalType],
    environmentIds: one.in,
  }))
  return holders.sort((a, b) => b.environmentIds.size - a.environmentIds.size || a.name.localeCompare(b.name))
}
