import { Table } from '@mantine/core'
import { Dialog } from '../ui/dialog.tsx'

const shortcuts = [
  ['Ctrl K', 'Find a page, a secret, a person or an action'],
  ['?', 'Show these shortcuts'],
  ['Escape', 'Close the dialog or the drawer that you opened last'],
  ['← ↑ → ↓', 'Move between the values in a matrix'],
  ['Enter', 'Reveal, hide or set the value in a matrix'],
  ['Enter', 'Save the value that you edit'],
  ['Shift Enter', 'Add a line to the value that you edit'],
  ['Escape', 'Cancel the edit of a value, and discard what you typed'],
  ['Ctrl Enter', 'Save the value that you edit in the drawer'],
  ['J, K', 'Show the next or the previous secret in the drawer'],
] as const

/** The keys that do something on every page and in a matrix. */
export function Shortcuts({ onClose }: { onClose: () => void }) {
  return (
    <Dialog opened onClose={onClose} title="Keyboard shortcuts">
      <Table>
        <Table.Tbody>
          {shortcuts.map(([keys, meaning]) => (
            <Table.Tr key={meaning}>
              <Table.Td w={120}>
                <kbd>{keys}</kbd>
              </Table.Td>
              <Table.Td>{meaning}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Dialog>
  )
}
