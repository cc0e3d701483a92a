import { ActionIcon, Button, Group, PasswordInput, Stack, Text, TextInput, Tooltip } from '@mantine/core'
import { limits } from '@skerry/contract/limits'
import { clearedMessage } from '../keyring.ts'
import { IconPlus, IconX } from '../ui/icons.ts'
import { headerErrors, noHeader, type TypedHeader } from './headers.ts'

/** Fields for the headers. The values are masked, because they are often credentials and are never shown again. */
export function HeaderFields(props: {
  headers: TypedHeader[]
  wasCleared: boolean
  onChange: (headers: TypedHeader[]) => void
}) {
  const { headers, wasCleared, onChange } = props
  const errors = headerErrors(headers)
  const change = (at: number, to: Partial<TypedHeader>) =>
    onChange(headers.map((one, i) => (i === at ? { ...one, ...to } : one)))
  return (
    <Stack gap="xs" role="group" aria-label="Headers">
      {headers.map((header, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place, and has no other name.
        <Group key={i} gap="xs" align="flex-start" wrap="nowrap">
          <TextInput
            flex={2}
            aria-label={`Name of header ${i + 1}`}
            placeholder="authorization"
            classNames={{ input: 'mono' }}
            autoComplete="off"
            spellCheck={false}
            value={header.name}
            error={errors[i]?.name}
            onChange={(event) => change(i, { name: event.currentTarget.value })}
          />
          <PasswordInput
            flex={3}
            aria-label={`Value of header ${i + 1}`}
            autoComplete="off"
            value={header.value}
            error={errors[i]?.value}
            onChange={(event) => change(i, { value: event.currentTarget.value })}
          />
          <Tooltip label={`Leave out header ${i + 1}`} withArrow>
            <ActionIcon
              variant="subtle"
              color="gray"
              mt={4}
              aria-label={`Leave out header ${i + 1}`}
              onClick={() => onChange(headers.filter((_, other) => other !== i))}
            >
              <IconX size={16} />
            </ActionIcon>
          </Tooltip>
        </Group>
      ))}
      {wasCleared && (
        <Text size="xs" c="red" role="alert">
          {clearedMessage}
        </Text>
      )}
      <Group>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          disabled={headers.length >= limits.logSinkHeadersMax}
          onClick={() => onChange([...headers, noHeader])}
        >
          Add a header
        </Button>
      </Group>
    </Stack>
  )
}
