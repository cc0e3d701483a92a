import { Code, Group } from '@mantine/core'
import { Copy } from './copy.tsx'

/** The command that does the same in a terminal. */
export function CommandLine({ command }: { command: string }) {
  return (
    <Group gap={4} wrap="nowrap" maw="100%" miw={0}>
      <Code px="sm" py={6} miw={0} style={{ overflowX: 'auto', whiteSpace: 'nowrap' }} tabIndex={0}>
        {command}
      </Code>
      <Copy text={command} label="Copy the command" />
    </Group>
  )
}
