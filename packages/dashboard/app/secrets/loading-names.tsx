import { Alert, List, Text } from '@mantine/core'
import { loadingReason } from '@skerry/sdk/loading-names'

// Warns about names that make a program load or trust something. `skerry run` withholds such names, which would
// surprise people otherwise. Someone whom an attacker asked to store one is also warned.

/** The warning in the cell where a value is typed. */
export function LoadingName({ name }: { name: string }) {
  const reason = loadingReason(name)
  if (reason === undefined) return null
  return (
    <Text size="xs" role="alert">
      Store {name} only if you need it: {reason}. <code>skerry run</code> passes it to a program only if skerry.json
      lists it under allowNames, or with <code>--allow-name {name}</code>.
    </Text>
  )
}

/** The warning in a dialog, for all names that it would store. */
export function LoadingNames({ names }: { names: string[] }) {
  const found = names.filter((name) => loadingReason(name) !== undefined)
  if (found.length === 0) return null
  return (
    <Alert color="orange" variant="light" title="These names can change how programs run" role="alert">
      <List size="sm">
        {found.slice(0, 12).map((name) => (
          <List.Item key={name}>
            {name}: {loadingReason(name)}
          </List.Item>
        ))}
      </List>
      {found.length > 12 && <Text size="xs">and {found.length - 12} more</Text>}
      <Text size="sm">
        Store them only if you need them. <code>skerry run</code> passes them to a program only if skerry.json lists
        them under allowNames, or with <code>--allow-name</code>.
      </Text>
    </Alert>
  )
}
