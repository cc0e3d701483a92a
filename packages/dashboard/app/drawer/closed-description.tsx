import { Button, Text } from '@mantine/core'
import { unlockPrompt } from '../prompts.ts'

/** Says why the description and the tags are not shown. */
export function ClosedDescription({ why }: { why: 'locked' | 'opening' | 'unreadable' }) {
  if (why === 'opening') return <Text c="dimmed">Decrypting the description…</Text>
  if (why === 'locked')
    return (
      <Button variant="default" onClick={() => void unlockPrompt.ask().catch(() => {})}>
        Unlock to read the description
      </Button>
    )
  return (
    <Text className="matrix-broken" role="alert">
      The description cannot be decrypted: it was altered, moved here from another secret, or encrypted with another
      key.
    </Text>
  )
}
