import { Group, Text } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { Empty } from '../ui/empty.tsx'
import { AnchorLink } from '../ui/links.tsx'
import type { Column } from './columns.ts'

/** Replaces a matrix in which nothing can be read. It says that there may be secrets, and who can grant access. */
export function NoKey({ columns }: { columns: Column[] }) {
  return (
    <Empty title="You hold no key here" action={<EnvironmentLinks columns={columns} />}>
      Secrets may be here, and you can read none of them. An admin who holds the key of an environment can grant it to
      you on that environment’s page.
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
