import { Modal, type ModalProps } from '@mantine/core'
import { Layer } from './layer.tsx'

const noop = () => {}

/** The toolkit's dialog; Escape closes it only while it is the topmost, and then the focus returns to where it was. */
export function Dialog({ opened, onClose, closeOnEscape = true, children, ...more }: ModalProps) {
  return (
    <Modal opened={opened} onClose={onClose} closeOnEscape={false} returnFocus={false} {...more}>
      {opened && <Layer onEscape={closeOnEscape ? onClose : noop} />}
      {children}
    </Modal>
  )
}
