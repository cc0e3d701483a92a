import { ActionIcon, Stack, Text } from '@mantine/core'
import { useEffect } from 'react'
import { useAction } from '../action.ts'
import { usePlaintext } from '../keyring.ts'
import { IconEye, IconEyeOff } from '../ui/icons.ts'
import { ProblemAlert } from '../ui/problem.tsx'
import type { Change } from './changes.ts'
import { WholeValue } from './whole-value.tsx'

/** The current value and the value that would replace it. */
export interface BothValues {
  before: string
  after: string
}

/** Shows both values on request. They are cleared when the keyring locks, and when `change` changes. */
export function useComparedValues(change: Change, open: (name: string) => Promise<BothValues>) {
  const { name } = change
  const [values, setValues] = usePlaintext<BothValues | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the values belong to this change
  useEffect(() => setValues(null), [change, setValues])
  const reveal = useAction(async () => setValues(values ? null : await open(name)))
  const button = (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="sm"
      aria-label={`${values ? 'Hide' : 'Reveal'} both values of ${name}`}
      loading={reveal.pending}
      onClick={() => reveal.run()}
    >
      {values ? <IconEyeOff size={14} /> : <IconEye size={14} />}
    </ActionIcon>
  )
  const shown = (
    <>
      <ProblemAlert error={reveal.error} />
      {values && (
        <Stack gap={4} mt={4}>
          <Side title="Now" value={values.before} />
          <Side title="Afterwards" value={values.after} />
        </Stack>
      )}
    </>
  )
  return { button, shown }
}

function Side({ title, value }: { title: string; value: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {title}
      </Text>
      <WholeValue label={title} value={value} maxHeight={120} />
    </div>
  )
}
