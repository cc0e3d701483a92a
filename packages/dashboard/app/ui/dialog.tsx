import { Modal, type ModalProps } from '@mantine/core'
import { Layer } from './layer.tsx'

const noop = () => {}

/**
 * Mantine's dialog, with two differences. Escape closes only the topmost dialog, and the focus then returns to the
 * element that had it before.
 */
export function Dialog({ opened, onClose, closeOnEscape = true, children, ...more }: ModalProps) {
  return (
    <Modal opened={opened} onClose={onClose} closeOnEscape={false} returnFocus={false} {...more}>
      {opened && <Layer onEscape={closeOnEscape ? onClose : noop} />}
      {children}
    </Modal>
  )
}
