import { List } from '@mantine/core'
import { offboardingLimits } from '@skerry/sdk/internal/offboarding'

/** The list of what an offboarding cannot undo. */
export function CannotUndo() {
  return (
    <List size="sm">
      {offboardingLimits.map((text) => (
        <List.Item key={text}>{text}</List.Item>
      ))}
    </List>
  )
}
