import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useAction } from '../action.ts'
import type { Stale } from '../queries.ts'
import { Dialog } from './dialog.tsx'
import { Form } from './form.tsx'
import { ProblemAlert } from './problem.tsx'

export interface Question {
  title: string
  confirm: string
  decline?: string
  typed?: string
  onConfirm: () => Promise<unknown>
  stale?: readonly Stale[]
}

/**
 * Asks before an action that cannot be undone. The label of each button is a verb: `confirm` continues, `decline`
 * stops. If `typed` is set, the user must type that text first. The dialog closes after the `stale` queries have
 * reloaded.
 */
export function ConfirmDelete(props: Question & { children: ReactNode; onClose: () => void }) {
  const { title, children, confirm, decline = 'Cancel', typed, onClose, onConfirm, stale } = props
  const [text, setText] = useState('')
  const action = useAction(onConfirm, { stale, done: onClose })
  return (
    <Dialog opened onClose={() => action.pending || onClose()} title={title}>
      <Form onSubmit={() => action.run()}>
        <Stack>
          <Text size="sm" component="div">
            {children}
          </Text>
          {typed && (
            <TextInput
              label={
                <>
                  Type <b>{typed}</b> to confirm
                </>
              }
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
          )}
          <ProblemAlert error={action.error} />
          <Group justify="flex-end">
            <Button variant="default" disabled={action.pending} onClick={onClose}>
              {decline}
            </Button>
            <Button type="submit" color="red" loading={action.pending} disabled={typed !== undefined && text !== typed}>
              {confirm}
            </Button>
          </Group>
        </Stack>
      </Form>
    </Dialog>
  )
}
