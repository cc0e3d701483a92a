import { isReader, readerWords } from '@skerry/contract/grants/readers'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { RequestedEnvironments } from '../requests/environments.tsx'
import { TwoLines } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { List } from '../ui/list.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { type Access, accessQuery } from './access-queries.ts'

/** The accesses of one holder, or to one environment. */
interface Row {
  id: string
  name: string
  accesses: Access[]
}

const kindOf = ({ principalType, inForce }: Access): string => {
  const kind = isReader({ principalType })
    ? readerWords[principalType as keyof typeof readerWords]
    : kinds[principalType]
  return inForce ? (kind ?? '') : `${kind}, revoked`
}
const kinds: Record<string, string> = { user: 'member', service_token: 'service token' }

/** The rotator of the server has no name. */
const nameOf = (one: Access): string => one.name ?? `the ${kindOf(one)}`

function rowsBy(accesses: Access[], idOf: (one: Access) => string, nameOfRow: (one: Access) => string): Row[] {
  return [...Map.groupBy(accesses, idOf)]
    .map(([id, all]) => ({ id, name: nameOfRow(all[0] as Access), accesses: all }))
    .sort((a, b) => a.name.localeCompare(b.name))
}

/** Each person and token with the environments that they can read. */
export function AccessByHolder() {
  return (
    <AccessList
      label="Holders and their environments"
      header="Holder"
      rowsOf={(all) => rowsBy(all, ({ principalId }) => principalId, nameOf)}
      main={({ name, accesses: [first] }) => <TwoLines main={name} below={first?.name == null ? '' : kindOf(first)} />}
      cell={({ accesses }) => <HeldEnvironments accesses={accesses} />}
      listed="Can read"
    />
  )
}

/** Each environment with the people and tokens that can read it. */
export function AccessByEnvironment() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  return (
    <AccessList
      label="Environments and their holders"
      header="Environment"
      rowsOf={(all) =>
        rowsBy(
          all,
          ({ environmentId }) => environmentId,
          ({ label }) => label,
        )
      }
      main={({ id, name }) => (
        <AnchorLink to="/orgs/$org/envs/$env" params={{ org: org.slug, env: id }} className="mono">
          {name}
        </AnchorLink>
      )}
      cell={({ accesses }) => <Holders accesses={accesses} />}
      listed="Can be read by"
    />
  )
}

function AccessList(props: {
  label: string
  header: string
  listed: string
  rowsOf: (accesses: Access[]) => Row[]
  main: (row: Row) => ReactNode
  cell: (row: Row) => ReactNode
}) {
  const { label, header, listed, rowsOf, main, cell } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  return (
    <List
      label={label}
      query={useQuery(accessQuery(org.id))}
      rows={({ access }) => rowsOf(access)}
      columns={[
        { header, cell: main, sort: ({ name }) => name, width: 260 },
        { header: listed, cell, sort: ({ accesses }) => accesses.length },
      ]}
      minWidth={640}
      rowId={({ id }) => id}
      rowName={({ name }) => name}
      empty={
        <Empty title="No environment yet" command={`skerry access map --org ${org.slug}`}>
          Everyone who can read an environment is listed here.
        </Empty>
      }
    />
  )
}

function HeldEnvironments({ accesses }: { accesses: Access[] }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const ending = accesses.filter(({ endsAt }) => endsAt !== null)
  return (
    <>
      <RequestedEnvironments orgId={org.id} environments={accesses} />
      {ending.map(({ environmentId, label, endsAt }) => (
        <div key={environmentId} className="help">
          {label} ends <RelativeTime at={endsAt} />
        </div>
      ))}
    </>
  )
}

function Holders({ accesses }: { accesses: Access[] }) {
  const sorted = [...accesses].sort((a, b) => nameOf(a).localeCompare(nameOf(b)))
  return (
    <div className="requested">
      {sorted.map((one) => (
        <span key={one.principalId}>
          {nameOf(one)}{' '}
          <span className="help">
            {one.name === null || (one.principalType === 'user' && one.inForce) ? '' : kindOf(one)}
            {one.endsAt !== null && (
              <>
                {' '}
                ends <RelativeTime at={one.endsAt} />
              </>
            )}
          </span>
        </span>
      ))}
    </div>
  )
}
