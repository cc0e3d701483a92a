import { Code, Stack, Text } from '@mantine/core'
import { ShownOnce } from '../tokens/shown-once.tsx'
import { CommandLine } from '../ui/command-line.tsx'
import type { Dispatched } from './dispatch-dialog.tsx'

/**
 * Shows the token of a new task once, with an example of its use. The example keeps the token in a file, because other
 * processes can read command lines.
 */
export function NewTask({ made, host, onClose }: { made: Dispatched | null; host: string; onClose: () => void }) {
  return (
    <ShownOnce title="The token of the task" token={made?.token ?? null} onClose={onClose}>
      <Stack gap={6}>
        <Text size="sm">
          Send it to the proxy with each request, in the header <Code>{made?.header}</Code>. For example, write the line{' '}
          <Code>{made?.header}: …</Code> into the file <Code>task.txt</Code> and run:
        </Text>
        <CommandLine command={`curl --proxy http://127.0.0.1:8081 --header @task.txt https://${host}/`} />
      </Stack>
    </ShownOnce>
  )
}
