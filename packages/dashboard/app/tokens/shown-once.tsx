import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Copy } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'

/**
 * Shows a token, or the secret that `what` names, this one time. Only the button closes the dialog, because the secret
 * is stored nowhere else. `token` is null if the keyring has locked meanwhile and the page has forgotten it.
 */
export function ShownOnce(props: {
  title: string
  what?: string
  token: string | null
  children: ReactNode
  problem?: ReactNode
  onClose: () => void
}) {
  const { title, what = 'token', token, children, problem, onClose } = props
  return (
    <Dialog
      opened
      onClose={onClose}
      title={title}
      size="lg"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        <Alert color="yellow" variant="light">
          {token === null
            ? `The keyring was locked, so this page no longer shows the ${what}. If you did not save it, make another.`
            : 'You can see it only now. Neither this browser nor the server keeps it.'}
        </Alert>
        {token !== null && (
          <Group gap={4} wrap="nowrap" align="flex-start">
            <Code block flex={1} style={{ whiteSpace: 'pre-wrap', wordBreak: 'break-all' }} data-secret tabIndex={0}>
              {token}
            </Code>
            <Copy text={token} label={`Copy the ${what}`} />
          </Group>
        )}
        {token !== null && (
          <Text size="sm" component="div">
            {children}
          </Text>
        )}
        {problem}
        <Group justify="flex-end">
          <Button onClick={onClose} data-autofocus>
            {token === null ? 'Close' : 'I have kept it'}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
