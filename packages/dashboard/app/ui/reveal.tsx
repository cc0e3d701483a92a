import { ActionIcon, Group, Stack, Text, Tooltip } from '@mantine/core'
import { useAction } from '../action.ts'
import { usePlaintext } from '../keyring.ts'
import { Copy } from './copy.tsx'
import { IconEye, IconEyeOff } from './icons.ts'
import { ProblemAlert } from './problem.tsx'

/**
 * Shows a value that is decrypted on request. It is dropped when it is hidden, the keyring locks or the page is left.
 */
export function Reveal({ name, open }: { name: string; open: () => Promise<string> }) {
  const [value, setValue] = usePlaintext<string | null>(null)
  const reveal = useAction(async () => setValue(await open()))
  const shown = value !== null
  const label = shown ? `Hide ${name}` : `Reveal ${name}`
  return (
    <Stack gap={4} miw={0}>
      <Group gap={4} wrap="nowrap" miw={0}>
        <Text
          className="mono"
          truncate={!shown}
          style={shown ? { whiteSpace: 'pre-wrap', wordBreak: 'break-all' } : {}}
        >
          {shown ? value : '••••••••••••'}
        </Text>
        <Tooltip label={label} withArrow>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={label}
            loading={reveal.pending}
            onClick={() => (shown ? setValue(null) : reveal.run())}
          >
            {shown ? <IconEyeOff size={16} /> : <IconEye size={16} />}
          </ActionIcon>
        </Tooltip>
        {shown && <Copy text={value} label={`Copy ${name}`} />}
      </Group>
      <ProblemAlert error={reveal.error} />
    </Stack>
  )
}
