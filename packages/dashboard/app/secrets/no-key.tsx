import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { meQuery } from '../queries.ts'
import { Empty } from '../ui/empty.tsx'
import { AnchorLink } from '../ui/links.tsx'
import type { Column } from './columns.ts'

/**
 * Replaces a matrix in which nothing can be read. It says that there may be secrets, and how this person gets access:
 * first a keyring, then the key of an environment from somebody who holds it.
 */
export function NoKey({ columns }: { columns: Column[] }) {
  const { org = '', app, group } = useParams({ strict: false })
  const { data: me } = useQuery(meQuery)
  const environment = columns.find(({ isBranch }) => !isBranch)
  const owner = app === undefined ? `--group ${group}` : `--app ${app}`
  const command = `skerry grant ${me?.user?.email} ${owner} --env ${environment?.slug} --org ${org}`
  if (me?.user?.publicKeyJwk === null)
    return (
      <Empty title="You have no keyring yet" action={<AnchorLink to="/account/keyring">Make your keyring</AnchorLink>}>
        Secrets may be here. Make a keyring, and then ask somebody who can read them to share the keys with you. If you
        made this organization with skerry signup, that is your own command line.
      </Empty>
    )
  return (
    <Empty
      title="You hold no key here"
      action={<EnvironmentLinks columns={columns} />}
      command={me?.user?.email && environment ? command : false}
    >
      Secrets may be here, and you can read none of them. An admin who holds the key of an environment can grant it to
      you on that environment’s page, or in a terminal with the command below.
    </Empty>
  )
}

/**
 * Links to the environments' pages, for a page without columns. Environments whose key this person lacks are marked.
 */
export function EnvironmentLinks({ columns }: { columns: Column[] }) {
  const { org = '' } = useParams({ strict: false })
  const some = columns.some(({ own }) => own)
  return (
    <Group gap="md" justify="center">
      <Text size="sm" c="dimmed">
        Access and settings:
      </Text>
      {columns.map(({ environmentId, name, own }) => (
        <AnchorLink key={environmentId} to="/orgs/$org/envs/$env" params={{ org, env: environmentId }} size="sm">
          {some && !own ? `${name} (you hold no key)` : name}
        </AnchorLink>
      ))}
    </Group>
  )
}
